"""A program whose work somebody else decides: a server, a library, a README. It is run to its end, within bounds.

It gets a session of its own: what it started ends with it, and nothing asks on the terminal.
"""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import NamedTuple

from packyard.core.errors import UnavailableError

_MOMENT = 0.1  # seconds from one look at what is written to the next


class Done(NamedTuple):
    """What a program left: its exit code, and the bytes that it wrote to its streams."""

    code: int
    output: bytes
    stderr: bytes


def run(command: Sequence[str], *, folder: Path, env: Mapping[str, str] | None, seconds: float, most: int) -> Done:
    """Run a program in a folder, without an input; without ``env`` it has our environment.

    Raises `UnavailableError` where it cannot start, takes longer, or writes more than ``most`` bytes to its streams.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as stderr:

        def check() -> None:
            if sum(os.fstat(stream.fileno()).st_size for stream in (output, stderr)) > most:
                raise UnavailableError(f"writes more than {most} bytes")

        try:
            process = Popen(
                command, cwd=folder, env=env, stdin=DEVNULL, stdout=output, stderr=stderr, start_new_session=True
            )
        except OSError as error:
            raise UnavailableError(f"cannot start: {error.strerror or error}") from error
        with process:
            try:
                code = _wait(process, seconds, check)
            finally:
                with suppress(ProcessLookupError, PermissionError):  # nothing is left of it
                    os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        stderr.seek(0)
        return Done(code, output.read(), stderr.read())


def _wait(process: Popen[bytes], seconds: float, check: Callable[[], None]) -> int:
    ended = threading.Thread(target=process.wait, daemon=True)  # which knows at once; wait with a time limit polls
    ended.start()
    for _ in range(round(seconds / _MOMENT)):
        ended.join(_MOMENT)
        check()
        if not ended.is_alive():
            return process.wait()
    raise UnavailableError(f"takes longer than {seconds} seconds")
