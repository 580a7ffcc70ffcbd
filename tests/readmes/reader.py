"""A reader of a README, who types its commands into a shell, one after the other, with the real programs."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

#: Seconds for one command, on a busy machine.
PATIENCE = 300


class Reader:
    """Where the reader is, what the shell has, and what the reader puts in place of the README's examples."""

    def __init__(self, folder: Path, environment: Mapping[str, str], words: Mapping[str, str]) -> None:
        folder.mkdir()
        self.start = self.directory = folder
        self.environment = {**os.environ, **environment}
        self.words = words

    def go(self, directory: str) -> None:
        """Go to a directory that the README names, which is below the one that everything began in."""
        self.directory = self.start / directory

    def run(self, command: str) -> str:
        """Run a command that has to succeed, stay where it leads, and return what it printed."""
        where = self.start / ".where"
        words = ["sh", "-euc", f"{self.put_in(command)}\npwd > {where}"]
        done = subprocess.run(words, **self._surroundings, timeout=PATIENCE)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        self.directory = Path(where.read_text().strip())
        return done.stdout

    @property
    def _surroundings(self) -> dict[str, Any]:
        """What a command finds, and where its output goes."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return {"cwd": self.directory, "env": self.environment, **streams, "text": True}

    @contextmanager
    def beside(self, command: str, until: Callable[[str], bool]) -> Iterator[None]:
        """Have a command run that goes on by itself, from when ``until`` is content with its output; then stop it."""
        output: list[str] = []
        process = subprocess.Popen(["sh", "-euc", f"exec {self.put_in(command)}"], **self._surroundings)
        assert process.stdout
        reading = threading.Thread(target=_gather, args=(process.stdout, output))
        reading.start()
        try:
            end = time.monotonic() + PATIENCE
            while not until("".join(output)):
                assert process.poll() is None, f"{command} has ended\n{''.join(output)}"
                assert time.monotonic() < end, f"{command}\n{''.join(output)}"
                time.sleep(0.05)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            reading.join()
            process.stdout.close()

    def put_in(self, command: str) -> str:
        """Return a command with the reader's own values in place of the examples."""
        for example, own in self.words.items():
            command = re.sub(rf"(?<![\w.]){re.escape(example)}(?!\w)", own, command)
        return command


def _gather(lines: IO[str], into: list[str]) -> None:
    for line in lines:
        into.append(line)  # noqa: PERF402  # while others look at it
