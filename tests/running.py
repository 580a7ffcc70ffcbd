"""Running ``packyard`` as users do, as a process of its own, from wherever this checkout's code is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import packyard as imported

#: The command, in front of its words; it works in every directory.
COMMAND = [sys.executable, "-m", "packyard.cli.main"]
#: The release that the catalogue is published as, for all tests; users know …/models/v2_7_0/NAME.tar.gz.
RELEASE = "v2_7_0"
SOURCE_ROOT = Path(imported.__file__).resolve().parents[1]


def environment(**changes: str) -> dict[str, str]:
    """Return this process' environment with the code on Python's path, and ``changes``."""
    return {**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "PYTHONDONTWRITEBYTECODE": "1", **changes}


def packyard(*words: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command line and return what it printed, whatever its exit code."""
    command = [*COMMAND, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120)


def done(*words: object, cwd: Path | None = None, **env: str) -> str:
    """Run a command line that has to succeed, and return its standard output."""
    process = packyard(*words, cwd=cwd, **env)
    assert process.returncode == 0, process.stderr
    return process.stdout


def programs_dir(folder: Path, programs: Mapping[str, Path]) -> Path:
    """Make ``folder`` a directory for PATH: ``packyard``, and each program by the name that users call it by."""
    folder.mkdir()
    (folder / "packyard").write_text(f'#!/bin/sh\nPYTHONPATH={SOURCE_ROOT} exec {" ".join(COMMAND)} "$@"\n')
    (folder / "packyard").chmod(0o755)
    for name, program in programs.items():
        (folder / name).symlink_to(program)
    return folder
