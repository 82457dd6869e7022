"""The tests of this package run against the installed wheel and its program."""

import stat
from pathlib import Path
from typing import Callable

import pytest
from coffer_sandbox import find_binary

pytest_plugins = ["pytester"]

MakeProgram = Callable[[str], str]


@pytest.fixture
def real_binary() -> str:
    return find_binary()


@pytest.fixture
def make_program(tmp_path: Path, real_binary: str) -> MakeProgram:
    """Writes a shell script as the program, in which $real is the real one. Returns its path."""

    def make(commands: str) -> str:
        path = tmp_path / "made-coffer"
        path.write_text(f'#!/bin/sh\nreal="{real_binary}"\n{commands}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory for one test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder
