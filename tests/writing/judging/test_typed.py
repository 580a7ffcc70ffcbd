"""The commands of a README are typed where they reach nothing of the caller's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from packyard.writing.judging import typed
from packyard.writing.judging.typed import CommandBlock


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return typed.stand_ins(tmp_path / "programs", None)


def test_commands_get_no_secrets_and_no_home_folder(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    assert typed.run(CommandBlock('test -z "$SECRET"; test "$HOME" = "$PWD"', 1), tmp_path, programs, os.environ) == ""


def test_no_module_of_the_folder_is_run_instead_of_packyard(tmp_path: Path, programs: Path) -> None:
    for name in ("packyard.py", "json.py", "sys.py"):
        (tmp_path / name).write_text("raise SystemExit(7)")
    assert typed.run(CommandBlock("packyard list --help", 1), tmp_path, programs, os.environ) == ""


def test_what_a_command_started_ends_with_it(tmp_path: Path, programs: Path) -> None:
    os.mkfifo(tmp_path / "never")
    said = typed.run(CommandBlock("cat never | cat; true", 1), tmp_path, programs, os.environ, seconds=0.5)
    assert said == "takes longer than 0.5 seconds"


@pytest.mark.parametrize("where", ["file", "/dev/null", "/dev/stderr"])
def test_what_a_command_writes_is_bounded(tmp_path: Path, programs: Path, where: str) -> None:
    block = CommandBlock(f"head -c 1000000 /dev/zero >{where}; false", 1)
    said = typed.run(block, tmp_path, programs, os.environ, most=100_000)
    assert said == ("a command failed" if where == "/dev/null" else "writes more than 100000 bytes")


_PAGE = """\
```sh
echo 1

echo 2
```
1. As a step:

   ~~~ bash
   echo 3
   ~~~
````shell
```
echo 4
````
```text
echo no
```
```sh
```
"""


def test_finds_the_blocks_that_readers_see() -> None:
    assert typed.blocks(_PAGE) == [
        CommandBlock("echo 1\n\necho 2\n", 2),
        CommandBlock("   echo 3\n", 9),
        CommandBlock("```\necho 4\n", 12),
    ]
