"""Disks that fill up, and processes killed at work: what every command that writes has to come through."""

from __future__ import annotations

import errno
import io
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reading

#: How often a process is killed; `make fuzz` asks for a thousand times.
KILLS = int(os.environ.get("PACKYARD_KILLS", "25"))

_CALLS = (
    *((os, name) for name in ("open", "write", "fsync", "fchmod", "link", "rename", "replace", "unlink")),
    *((Path, name) for name in ("rename", "replace", "unlink", "write_bytes")),
)


class Failing:
    """Lets the n-th call of what changes a file system fail, as on a full disk: writes, and calls beside them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.calls = 0
        self.at = at
        for holder, name in _CALLS:
            monkeypatch.setattr(holder, name, self._wrapped(getattr(holder, name)))
        monkeypatch.setattr(os, "fdopen", self._open)

    def count(self) -> None:
        """Count a call, and fail if it is its turn."""
        self.calls += 1
        if self.calls == self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.count()
            return real(*args, **kwargs)

        return call

    def _open(self, handle: int, mode: str) -> io.BufferedWriter:
        return io.BufferedWriter(_Raw(handle, mode, self))


class _Raw(io.FileIO):
    def __init__(self, handle: int, mode: str, failing: Failing) -> None:
        super().__init__(handle, mode)
        self._failing = failing

    def write(self, data: Any, /) -> int:
        self._failing.count()
        return super().write(data)


def failures(monkeypatch: pytest.MonkeyPatch, command: Callable[[int], object]) -> Iterator[int]:
    """Run a command again and again, each time with the next call failing, and yield its number after each.

    The command gets the number too. What it may raise it has to catch.
    """
    for at in range(1, 200):
        with monkeypatch.context() as patch:
            failing = Failing(patch, at)
            command(at)
        if failing.calls < at:  # no call was left to fail
            return
        yield at
    pytest.fail("the command never got through")


def kills(loop: str, root: Path, *, count: int = KILLS) -> Iterator[str]:
    """Start the code ``loop``, which prints a line and then works without end; kill it at random, and yield after it.

    ``count`` times; what is yielded says how to get there again.
    """
    seed = random.randrange(1 << 30)
    delays = random.Random(seed)
    for number in range(count):
        with subprocess.Popen([sys.executable, "-c", loop, str(root)], stdout=subprocess.PIPE) as victim:
            assert victim.stdout is not None
            victim.stdout.readline()
            time.sleep(delays.uniform(0.005, 0.05))
            victim.send_signal(signal.SIGKILL)
        yield f"seed {seed}, kill {number}"


def at_once(code: str, *arguments: tuple[str, ...]) -> None:
    """Run ``code`` in as many processes at once as there are arguments; each has to succeed."""
    processes = [subprocess.Popen([sys.executable, "-c", code, *words]) for words in arguments]
    assert [process.wait() for process in processes] == [0] * len(processes)


def content(root: Path) -> dict[str, bytes]:
    """Return the files below a folder, those of an interrupted change left out."""
    left = {str(file.relative_to(root)) for file in leftovers(root)}
    return {path: data for path, data in reading.files(root).items() if path not in left}


def leftovers(root: Path) -> list[Path]:
    """Return the files of an interrupted change."""
    return [path for path in root.rglob(".*packyard*") if path.is_file()]
