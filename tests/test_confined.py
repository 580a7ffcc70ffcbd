"""That a test which starts a program of the machine past ``real`` fails, on a machine that has the program too."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import programs
import real


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of the machine that needs asking."""
    tool = tmp_path / "machine" / "some-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho it runs\n")
    tool.chmod(0o755)
    monkeypatch.setenv(programs.MACHINE, f"{tool.parent}:{programs.machine_path()}")
    return tool


@pytest.mark.usefixtures("tool")
def test_a_bare_name_finds_nothing_in_a_process_or_a_shell() -> None:
    with pytest.raises(FileNotFoundError):
        subprocess.run(["some-tool"])
    assert subprocess.run(["sh", "-c", "some-tool"], stderr=subprocess.DEVNULL).returncode == 127


def test_a_path_into_the_machine_is_refused_until_real_gave_it(tool: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"started past real: ask real.program\('some-tool'\)"):
        subprocess.run([tool])
    assert subprocess.check_output([real.program("some-tool")]) == b"it runs\n"


def test_what_swallows_exceptions_does_not_swallow_the_refusal(tool: Path) -> None:
    def swallow() -> None:
        with suppress(Exception):
            os.posix_spawn(tool, [str(tool)], {})

    with pytest.raises(pytest.fail.Exception, match="past real"):
        swallow()


@pytest.mark.parametrize("way", ["given", "own"])
def test_the_path_of_the_machine_is_refused_as_that_of_a_process(
    way: str, tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{os.environ['PATH']}:{tool.parent}"
    if way == "own":
        monkeypatch.setenv("PATH", path)
    with pytest.raises(pytest.fail.Exception, match="is on the PATH of a process"):
        subprocess.run([sys.executable, "-c", ""], env={"PATH": path} if way == "given" else None)


def test_a_script_types_what_real_puts_on_its_path(tool: Path) -> None:
    printed = subprocess.check_output(["sh", "-c", "some-tool"], env={"PATH": real.path_with(tool.name)})
    assert printed == b"it runs\n"


def test_this_python_git_and_coreutils_need_no_asking() -> None:
    for command in (["python3", "-c", "import yaml"], ["git", "--version"], ["/bin/sh", "-c", "true | cat"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
