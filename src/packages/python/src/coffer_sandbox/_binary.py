"""Finds the program: an explicit one, else the wheel's own, else `coffer` in PATH."""

import functools
import os
import re
import shutil
import subprocess
import sysconfig
import warnings
from importlib import metadata
from typing import Optional

from .errors import SandboxError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

DISTRIBUTION = "coffer-sandbox"


class CofferVersionWarning(UserWarning):
    """The version of the program differs from the version of this package."""


def package_version() -> Optional[str]:
    """Returns the version of this package, or None if it runs from its source."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def find_binary(named: Optional[str] = None) -> str:
    """Returns the path of the program: `named`, else COFFER_BINARY, else the wheel's own, else the one in PATH.

    Raises SandboxError if there is none.
    """
    named = named or os.environ.get("COFFER_BINARY")
    if named:
        found = shutil.which(os.path.expanduser(named))
        if found is None:
            raise SandboxError(f"{named} is not a program that can be run: coffer is looked for there")
        return os.path.abspath(found)
    found = _of_wheel() or shutil.which("coffer")
    if found is None:
        raise SandboxError(
            "there is no coffer: install the file coffer_sandbox-*.whl of a release, have coffer in the PATH, or name it "
            "in COFFER_BINARY"
        )
    return os.path.abspath(found)


def _of_wheel() -> Optional[str]:
    """Returns the program installed with this package, in any scripts directory."""
    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        files = []
    candidates = [str(file.locate()) for file in files if file.name == "coffer" and file.parent.name == "bin"]
    candidates.append(os.path.join(sysconfig.get_path("scripts"), "coffer"))
    # The location that `pip install --target` uses.
    candidates.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin", "coffer"))
    return next((path for path in candidates if os.access(path, os.X_OK) and os.path.isfile(path)), None)


def check_version(binary: str) -> str:
    """Returns the version of a program. Warns once if it differs from this package's version.

    Raises SandboxError if the program is not Coffer.
    """
    status = os.stat(binary)
    version = _ask_version(binary, status.st_mtime_ns, status.st_size)
    own = package_version()
    if own is not None and version != own:
        warnings.warn(
            f"{binary} is coffer {version}, and this package is made for {own}", CofferVersionWarning, stacklevel=2
        )
    return version


@functools.lru_cache(maxsize=None)
def _ask_version(binary: str, _modified: int, _size: int) -> str:
    """Returns the program's response to --version. Each program is asked once, not for each test."""
    try:
        done = subprocess.run(
            [binary, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"{binary} did not answer to --version within 60 seconds") from error
    except OSError as error:
        raise SandboxError(f"{binary} could not be started: {error}") from error
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    match = re.match(r"coffer (\S+)$", said)
    if done.returncode != 0 or match is None:
        raise SandboxError(f"{binary} is not coffer: to --version it said {said[:200]!r} and exited {done.returncode}")
    return match.group(1)
