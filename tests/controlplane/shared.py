"""A service that all processes of one test run share: the first that needs it starts it, and it ends with the last.

Whoever uses it holds a shared lock on ``FOLDER/users``, which the kernel takes back however a process ends. The service
waits for that lock to be free of others, and stops. It has a session of its own: ^C reaches the tests, not the service.
"""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_TESTS_DIR = Path(__file__).resolve().parents[1]
_USERS, _START, _READY, _LOG = "users", "start", "ready", "log"


@contextmanager
def use(folder: Path, name: str) -> Iterator[None]:
    """Have a service of `controlplane.service` run in a folder as long as the block does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _USERS).open("a") as users:
        with (folder / _START).open("a") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)  # waits while the last service is still stopping
            if not (folder / _READY).exists():
                _run(folder, [sys.executable, "-m", "controlplane.service", name, str(folder)])
        yield


def _run(folder: Path, command: list[str]) -> None:
    """Start ``command`` and return when it offers its service."""
    environment = {**os.environ, "PYTHONPATH": str(_TESTS_DIR)}
    output = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(folder / _LOG), output, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], command, environment, file_actions=files, setsid=True)
    while not (folder / _READY).exists():
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            raise RuntimeError(f"{' '.join(command)} ended:\n{(folder / _LOG).read_text()}")
        time.sleep(0.05)


def offer(folder: Path) -> IO[str]:
    """Say that the service is ready, and return when nobody uses it; close the file returned when all has stopped."""
    (folder / _READY).touch()
    users = (folder / _USERS).open("a")
    fcntl.flock(users, fcntl.LOCK_EX)
    (folder / _READY).unlink()
    return users
