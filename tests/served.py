"""kustomize, many commands in one process, which reads the schemas of Kubernetes only once."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Served:
    """Runs each command as a process of its own would: the same code, words and files, in half a second less.

    `test_real` compares the two.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        self.name = program.name
        self._program = program
        self._printed = [folder / "stdout", folder / "stderr"]
        self._start()

    def __call__(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        print(
            json.dumps({"directory": str(cwd or Path.cwd()), "arguments": words}), file=self._process.stdin, flush=True
        )
        assert self._process.stdout
        answer = self._process.stdout.readline()
        stdout, stderr = (file.read_text("utf-8", "replace") for file in self._printed)
        if answer:
            code = int(answer)
        else:
            self.stop()
            code = self._process.returncode
            self._start()
        return subprocess.CompletedProcess(words, code, stdout, stderr)

    def done(self, *arguments: object, cwd: Path | None = None) -> str:
        """Run a command that has to succeed, and return what it printed."""
        process = self(*arguments, cwd=cwd)
        assert process.returncode == 0, f"{process.args}: {process.stdout}{process.stderr}"
        return process.stdout

    def stop(self) -> None:
        self._process.communicate()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [self._program, *self._printed], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )


class Cfg:
    """The ``cfg`` commands of a served kustomize."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def __call__(self, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self._served("cfg", *arguments, cwd=cwd)

    def done(self, *arguments: object, cwd: Path) -> str:
        return self._served.done("cfg", *arguments, cwd=cwd)


@contextmanager
def serving(program: Path) -> Iterator[Served]:
    """Let a ``kustomize-N-server`` run as long as the block does."""
    with tempfile.TemporaryDirectory() as folder:
        served = Served(program, Path(folder))
        yield served
        served.stop()
