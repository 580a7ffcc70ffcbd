"""kustomize, many commands in one process, which reads the schemas of Kubernetes only once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Lock, Thread

_PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    with server.makefile("rw") as lines:
        print(json.dumps([os.getcwd(), sys.argv[1:]]), file=lines, flush=True)
        code, stdout, stderr = json.loads(lines.readline())
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(code)
"""


class Served:
    """Runs each command as a process of its own would: the same code, words and files, in half a second less.

    `test_real` compares the two.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        self.name = program.name
        self._program = program
        self._printed = [folder / "stdout", folder / "stderr"]
        self._turn = Lock()
        self._start()

    def __call__(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        with self._turn:
            return self._run([str(argument) for argument in arguments], cwd)

    def _run(self, words: list[str], cwd: Path | None) -> subprocess.CompletedProcess[str]:
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

    @contextmanager
    def program(self, file: Path) -> Iterator[Path]:
        """Have a program at ``file`` as long as the block runs, which has the commands of shells run here."""
        served = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                cwd, words = json.loads(self.rfile.readline())
                done = served(*words, cwd=Path(cwd))
                self.wfile.write(json.dumps([done.returncode, done.stdout, done.stderr]).encode() + b"\n")

        address = str(self._printed[0].with_name(f"{id(Handler)}"))  # short: a socket's name has a limit
        with ThreadingUnixStreamServer(address, Handler) as server:
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            file.write_text(_PROGRAM.format(python=sys.executable, address=address))
            file.chmod(0o755)
            try:
                yield file
            finally:
                server.shutdown()
                thread.join()

    def stop(self) -> None:
        self._process.communicate()

    def _start(self) -> None:
        command, pipe = [self._program, *self._printed], subprocess.PIPE
        thrifty = {**os.environ, "GOGC": "off", "GOMEMLIMIT": "256MiB"}  # garbage is collected when it is so much
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=thrifty)


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
