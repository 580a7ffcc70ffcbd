"""While tests run, PATH is the folder of ``programs``, and what goes past ``real`` is refused where a process starts.

Refused are a path into the machine's own folders, but for what ``real`` has handed out, and such folders in the PATH
that a process is given. A process of a process is not seen here; all that it has is the PATH.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from programs import MACHINE, PLACE, PLAIN, machine_path, make_folder

#: Where systems have programs, some of them not on everybody's PATH.
SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
_handed_out: set[str] = set()


def hand_out(program: str | Path) -> Path:
    """Let tests start a program of the machine from now on, by its path."""
    _handed_out.add(os.fspath(program))
    return Path(program)


def confine(config: pytest.Config) -> None:
    """Put this in force for a run of tests, and for its workers."""
    if MACHINE not in os.environ:
        folder = tempfile.mkdtemp(prefix="packyard-programs-")
        config.add_cleanup(lambda: shutil.rmtree(folder))
        os.environ[MACHINE], os.environ[PLACE] = machine_path(), folder
        os.environ["PATH"] = str(make_folder(Path(folder, "plain")))
    sys.addaudithook(_check_start)


def path_with(programs: Mapping[str, Path]) -> str:
    """Return a PATH that has these programs by these names, beside those that need no asking."""
    folders = [Path(os.environ[PLACE], name) for name in programs]
    for folder, program in zip(folders, programs.values(), strict=True):
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError):
            (folder / folder.name).symlink_to(program)
    return os.pathsep.join(map(str, [*folders, Path(os.environ[PLACE], "plain")]))


def _check_start(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        _check_program(os.fsdecode(arguments[0]))
        _check_path(arguments[-1])


def _check_program(program: str) -> None:
    folder, name = os.path.split(program)
    if _is_of_machine(folder) and name not in PLAIN and program not in (sys.executable, *_handed_out):
        pytest.fail(f"{program} is started past real: ask real.program({name!r}) for it", pytrace=False)


def _check_path(environment: Any) -> None:
    given = os.environ if environment is None else environment
    path = os.fsdecode(given.get("PATH") or given.get(b"PATH") or "")
    if named := list(filter(_is_of_machine, path.split(os.pathsep))):
        pytest.fail(f"{named[0]} is on the PATH of a process: give it a folder with what real gives", pytrace=False)


def _is_of_machine(folder: str) -> bool:
    return folder in SYSTEM or folder in machine_path().split(os.pathsep)
