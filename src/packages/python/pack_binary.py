"""Packs the program named by COFFER_BINARY into the wheel, so that `coffer` is on the PATH of its environment."""

import os
from typing import Any, Dict

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Kinds of machines by their number in the header of a program.
MACHINES = {62: "x86_64", 183: "aarch64"}


def tag_for(binary: str) -> str:
    """Returns the tag of the platform that .ci/release/build links for. Other systems refuse the wheel because of it."""
    with open(binary, "rb") as program:
        number = int.from_bytes(program.read(20)[18:], "little")
    if number not in MACHINES:
        raise SystemExit(f"COFFER_BINARY is for a machine that has no wheel: ELF machine {number}")
    return f"py3-none-manylinux_2_17_{MACHINES[number]}.manylinux2014_{MACHINES[number]}"


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
        build_data["tag"] = tag_for(binary)
        build_data["pure_python"] = False
