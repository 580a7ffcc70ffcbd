"""The ``cfg`` commands of kustomize 3.8.7, many in one process, which reads the schemas of Kubernetes only once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Cfg:
    """Runs each command as a process of its own would: the same code, words and files, in half a second less.

    What a user sees of a wrong command line beside its first line, the usage, is left out.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"directory": str(cwd), "arguments": words}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(["cfg", *words], answer["code"], answer["stdout"], answer["stderr"])

    def done(self, *arguments: object, cwd: Path) -> str:
        """Run a command that has to succeed, and return what it printed."""
        process = self(*arguments, cwd=cwd)
        assert process.returncode == 0, f"{process.args}: {process.stdout}{process.stderr}"
        return process.stdout


@contextmanager
def answering(program: Path) -> Iterator[Cfg]:
    """Let ``kustomize-3-cfg`` answer as long as the block runs."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Cfg(process)
