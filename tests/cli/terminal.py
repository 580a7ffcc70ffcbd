"""A command on a real terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiny import COMMAND, environment

_PATIENCE = 300  # seconds for a text to appear, on a busy machine


@dataclass(frozen=True)
class Terminal:
    """The side of the terminal on which people are."""

    process: subprocess.Popen[bytes]
    handle: int

    def until(self, text: str | re.Pattern[str]) -> str:
        """Return what is printed up to a text, which has to come."""
        pattern = re.compile(re.escape(text)) if isinstance(text, str) else text
        seen = ""
        end = time.monotonic() + _PATIENCE
        while not pattern.search(seen.replace("\r", "")):
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
        return seen.decode("utf-8", "replace").replace("\r\n", "\n")

    def end(self) -> int:
        """Return the exit code of the command; what it prints until then is read, as it waits for that."""
        self.whole()
        return self.process.wait(_PATIENCE)

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self.handle, f"{line}\n".encode())


@contextmanager
def on_terminal(
    *words: object, cwd: Path, env: Mapping[str, str] | None = None, program: Sequence[object] = COMMAND
) -> Iterator[Terminal]:
    """Run packyard, or another program, on a terminal of its own, with changes of the environment."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.set_blocking(master, False)
    command = [*map(str, (*program, *words))]
    variables = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**variables, "TERM": "xterm", **(env or {})},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    ) as process:
        os.close(slave)
        try:
            yield Terminal(process, master)
        finally:
            process.kill()
            os.close(master)
