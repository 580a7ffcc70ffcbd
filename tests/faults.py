"""Disks that fill up, and processes killed at work: what every command that writes has to come through."""

import errno
import fcntl
import gc
import io
import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reading
from packyard.core.errors import PackyardError
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree

#: What changes files, and what looks at them.
_READ = ("access", "lstat", "fstat", "stat", "scandir", "read", "pread", "lseek", "listxattr", "getxattr")
_CHANGE = ("open", "write", "fsync", "fchmod", "fchown", "setxattr", "removexattr", "ftruncate")
_NAMES = ("link", "rename", "replace", "unlink", "mkdir")
#: What changes names and bytes.
CHANGING = (*_CHANGE, *_NAMES)
_CALLS = (*((os, name) for name in (*_READ, *_CHANGE, *_NAMES)), (fcntl, "flock"))
#: What a disk that is full fails at, and what it may break beside.
WRITING = ("open", "write", "fsync", "fchmod", "ftruncate", "link", "rename", "replace", "unlink")


#: A user without a name.
SOMEBODY = 12345


def become(user: int) -> None:
    """Be another user, in a process that is over soon."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


class Faulty:
    """Lets the n-th call to the file system fail with an error, or kill the process where there is none to fail with.

    A write can do so before it, or when half of it is done: that is two calls. Threads are counted one after the other.
    """

    def __init__(self, at: int, error: int | None = errno.ENOSPC, *, names: Collection[str] = ()) -> None:
        self.calls = 0
        self.at = at
        self.error = error
        self.names = names
        self._lock = threading.RLock()

    def install(self, patch: Callable[[Any, str, Any], None]) -> None:
        """Let every call go through here."""
        for holder, name in _CALLS:
            if not self.names or name in self.names:
                patch(holder, name, self._wrapped(name, getattr(holder, name)))

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            file = next((os.fspath(given) for given in args[:1] if isinstance(given, (str, Path))), None)
            with self._lock:  # whoever does a half has to be the one that fails behind it
                self._count(file)
                if name == "write" and self.calls + 1 == self.at:
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                if name == "write":
                    self._count(file)
            return real(*args, **kwargs)

        return call

    def _count(self, file: str | None) -> None:
        self.calls += 1
        if self.calls != self.at:
            return
        if self.error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise OSError(self.error, os.strerror(self.error), file)


@dataclass(frozen=True)
class Outcome:
    """How a process ended: 0 done, 1 refused, 3 a bug, -9 killed; its number of calls, and what it said."""

    code: int
    calls: int
    text: str


def forked(command: Callable[[], object], faulty: Faulty | None = None) -> Outcome:
    """Run a command in a process of its own, with faults."""
    reader, writer = os.pipe()
    tell = os.write
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: they are not used there
        child = os.fork()
    if not child:
        gc.disable()  # what it would finalize may wait for a thread that is not here
        signal.alarm(60)
        code, text = 3, ""
        said = io.BytesIO()
        sys.stdout = sys.stderr = io.TextIOWrapper(said, "utf-8", "backslashreplace", write_through=True)
        try:
            if faulty:
                faulty.install(setattr)
            try:
                result = command()
                code = result if isinstance(result, int) else 0
                text = said.getvalue().decode()
            except PackyardError as error:
                code, text = 1, str(error)
            except OSError as error:
                code, text = (1 if error.filename else 3), traceback.format_exc()
            except BaseException:
                text = traceback.format_exc()
            tell(writer, f"{faulty.calls if faulty else 0} {text}".encode(errors="backslashreplace"))
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader, "rb") as stream:  # noqa: PTH123  # a descriptor
        calls, _, text = stream.read().decode().partition(" ")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Outcome(code, int(calls or 0), text)


def failures(monkeypatch: pytest.MonkeyPatch, command: Callable[[int], object]) -> Iterator[int]:
    """Run a command again and again, each time with the next call failing, and yield its number after each.

    The command gets the number too. What it may raise it has to catch.
    """
    for at in range(1, 2000):
        with monkeypatch.context() as patch:
            faulty = Faulty(at, names=WRITING)
            faulty.install(patch.setattr)
            command(at)
        if faulty.calls < at:  # no call was left to fail
            return
        yield at
    pytest.fail("the command never got through")


def at_once(code: str, *arguments: tuple[str, ...]) -> None:
    """Run ``code`` in as many processes at once as there are arguments; each has to succeed."""
    processes = [subprocess.Popen([sys.executable, "-c", code, *words]) for words in arguments]
    assert [process.wait() for process in processes] == [0] * len(processes)


def state_of(process: int) -> str:
    """Return the letter of what a process does, as in `ps`; empty where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def content(root: Path) -> dict[str, bytes]:
    """Return the files below a folder, those of an interrupted change left out."""
    left = {str(file.relative_to(root)) for file in leftovers(root)}
    return {path: data for path, data in reading.files(root).items() if path not in left}


def recover(root: Path, log: StepLog | None = None) -> None:
    """Do with an interrupted change what the next command does."""
    with Tree(root).locked(log):
        pass


def leftovers(root: Path) -> list[Path]:
    """Return the files of an interrupted change."""
    return [path for path in root.rglob(".*packyard*") if path.is_file()]
