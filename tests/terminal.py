"""A command on a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commandline import COMMAND, environment

_PATIENCE = 30  # seconds for a text to appear


@dataclass(frozen=True)
class Terminal:
    """The side of the terminal on which people are."""

    process: subprocess.Popen[bytes]
    handle: int

    def until(self, text: str) -> str:
        """Return what is printed up to a text, which has to come."""
        seen = ""
        end = time.monotonic() + _PATIENCE
        while text not in seen:
            assert time.monotonic() < end, seen
            try:
                seen += os.read(self.handle, 65536).decode("utf-8", "replace")
            except BlockingIOError:
                time.sleep(0.02)
            except OSError as error:  # the command has ended
                raise AssertionError(seen) from error
        return seen

    def whole(self) -> str:
        """Return all that is printed until the command ends."""
        seen = b""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if select.select([self.handle], [], [], _PATIENCE)[0]:
                try:
                    seen += os.read(self.handle, 65536)
                except OSError:  # the command has ended
                    break
        return seen.decode("utf-8").replace("\r\n", "\n")

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self.handle, f"{line}\n".encode())


@contextmanager
def on_terminal(
    *words: object, cwd: Path, columns: int = 80, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Run packyard on a terminal of its own, with changes of the environment."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.set_blocking(master, False)
    command = [*COMMAND, *map(str, words)]
    with subprocess.Popen(
        command, cwd=cwd, env=environment(**env or {}), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as process:
        os.close(slave)
        try:
            yield Terminal(process, master)
        finally:
            process.kill()
            os.close(master)
