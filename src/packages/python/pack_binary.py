"""Packs the program named by COFFER_BINARY into the wheel, so that `coffer` is on the PATH of its environment."""

import os
from typing import Any, Dict

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The platform that .ci/release/build links for. Older systems refuse the wheel because of this tag.
TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"


class PackBinary(BuildHookInterface):  # type: ignore[type-arg]
    """Build hook that runs while hatchling builds the wheel."""

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        # An editable install is for work on this package, whose tests name their program.
        if self.target_name != "wheel" or version == "editable":
            return
        binary = os.environ.get("COFFER_BINARY", "")
        if not os.path.isfile(binary):
            raise SystemExit("COFFER_BINARY must name the program to pack, as .ci/release/wheel does")
        build_data["shared_scripts"] = {os.path.abspath(binary): "coffer"}
        described = f"{self.metadata.core.name.replace('-', '_')}-{self.metadata.version}.dist-info"
        build_data["force_include"][os.path.join(self.root, "../../../LICENSE")] = f"{described}/licenses/LICENSE"
        build_data["tag"] = TAG
        build_data["pure_python"] = False
