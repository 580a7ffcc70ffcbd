"""Whatever a package holds, each verb that reads it is done or refuses, soon, in little memory; nothing else changes.

`make fuzz` runs more of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from commandline import environment
from using.setters.hostile import Grammar

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))
CASES = max(300, FUZZ // 50) if FUZZ else 6
SECONDS, MEMORY = 2.0, 256 * 1024

#: Runs each line, a folder and words, in a process of its own that has Python started already; says code, time, memory.
PROGRAM = """
import json, os, resource, sys
from packyard.cli.main import main
for line in sys.stdin:
    folder, words = json.loads(line)
    child = os.fork()
    if not child:
        code = 3
        try:
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            for number, name in ((1, "../out"), (2, "../err")):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
            code = main(words)
        except SystemExit as exit:
            code = exit.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)
    _, status, used = os.wait4(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss]), flush=True)
"""
VERBS = [
    *(
        ["setters", "."],
        ["setters", ".", "--unset", "--output", "json"],
        ["set", ".", "A=2"],
        ["set", ".", "A=", "B=x"],
    ),
    *(
        ["explain", ".", "A"],
        ["lint", "."],
        ["render", "--built-in", "."],
        ["cfg", "list-setters", ".", "--include-subst"],
    ),
    *(["cfg", "set", ".", "A", "3"], ["set", ".", "A=1", "--dry-run", "-R"], ["set", ".", "--unset", "A"]),
]


class Running:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def __call__(self, folder: Path, words: Sequence[str]) -> tuple[int, float, int]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(folder), words]) + "\n")
        self.process.stdin.flush()
        code, seconds, memory = json.loads(self.process.stdout.readline())
        return code, seconds, memory


@pytest.fixture(scope="module")
def run() -> Iterator[Running]:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, env=environment(), stdin=-1, stdout=-1, text=True) as process:
        yield Running(process)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(CASES))
def test_any_package_is_read_or_refused(run: Running, tmp_path: Path, seed: int) -> None:
    grammar = Grammar(seed)
    package = tmp_path / "package"
    grammar.package(package)
    before = {file.name: file.read_bytes() for file in package.iterdir()}
    for words in VERBS:
        code, seconds, memory = run(package, words)
        said = (tmp_path / "err").read_text("utf-8", "replace")
        case = f"seed {seed}, {' '.join(words)}: {said[-1500:]}"
        assert code in (0, 1), f"code {code} of {case}"
        assert "Traceback" not in said, case
        assert seconds < SECONDS, f"{seconds} s for {case}"
        assert memory < MEMORY, f"{memory} KiB for {case}"
        assert {file.name for file in tmp_path.iterdir()} <= {"package", "out", "err"}, case
        assert {file.name for file in package.iterdir()} <= set(before), case
        for name, data in before.items():
            (package / name).write_bytes(data)
