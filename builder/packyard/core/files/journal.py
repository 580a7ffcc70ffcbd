"""The journal of a change: what a command is about to replace, so that the next command can finish it after a crash.

It lies in the root folder of the change and has a line for each file: its path, the digests of its old and new bytes,
and the name of the staged file beside it that has the new ones. The old bytes of all files follow. It is written under
the name of a draft; renaming that to its own name decides the change. Its writer keeps it locked.

A journal is hostile input: it must belong to the user, and may only name files below its folder, without links.
`recovery` compares the files with it before it changes anything.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files import atomic, regular

JOURNAL = ".packyard-journal"
DRAFT = ".packyard-draft"

_STAGED = ".packyard-new-"
_STAGED_NAME = r"\.packyard-new-[0-9a-f]{16}-[0-9]{1,9}"
_DIGEST = r"[0-9a-f]{64}"
_FORM = "packyard journal 1"
_LIMIT = 16 << 20  # of all lines; the old bytes behind them are read only when they are needed
_LINE = 1 << 16
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class JournalLine:
    """One file of a journal: the digests of its bytes before and after, None where there is no file.

    ``size`` is that of the old bytes. ``staged`` is the file with the new bytes until it is renamed, or the old file
    itself, where that is to be removed.
    """

    def __init__(self, file: str, old: str | None, new: str | None, size: int, staged: str) -> None:
        self.file = file
        self.old = old
        self.new = new
        self.size = size
        self.staged = staged
        self.offset = 0  # where the old bytes begin in the journal

    def to_bytes(self, root: str) -> bytes:
        """Return the line in the journal of a root."""
        path, staged = self.file[len(root) :].lstrip("/"), os.path.basename(self.staged)
        fields = {"path": path, "old": self.old, "new": self.new, "size": self.size, "staged": staged}
        return json.dumps(fields).encode() + b"\n"

    def old_bytes(self, handle: int) -> bytes | None:
        """Return the old bytes from an open journal, if they have the right digest."""
        if self.old is None:
            return None
        data = b""
        while len(data) < self.size and (more := os.pread(handle, self.size - len(data), self.offset + len(data))):
            data += more
        return data if digest(data) == self.old else None


def digest(data: bytes) -> str:
    """Return the digest of bytes as journals spell it."""
    return str(_sha256()(data).hexdigest())


@cache
def _sha256() -> Any:
    """Return SHA-256 without `hashlib`, which loads OpenSSL: that takes a twentieth of a set's time."""
    for name in ("_sha2", "_sha256"):  # CPython from 3.12 on, and before
        with suppress(ImportError):
            return import_module(name).sha256
    from hashlib import sha256

    return sha256


def staged_names() -> Iterator[str]:
    """Yield names for staged files; nobody can guess them."""
    token = os.urandom(8).hex()
    number = 0
    while True:
        yield f"{_STAGED}{token}-{number}"
        number += 1


def beside(file: str, staged: str) -> str:
    """Return the path of the file that is staged for another under this name."""
    return f"{os.path.dirname(file)}/{staged}"


def draft(root: str, items: Sequence[JournalLine], contents: Sequence[bytes]) -> int:
    """Write the draft of a journal with the old bytes of its files, and return it open and locked."""
    head = json.dumps({"form": _FORM, "owner": os.geteuid(), "files": len(items)}).encode() + b"\n"
    lines = b"".join((head, *(item.to_bytes(root) for item in items)))
    file = f"{root}/{DRAFT}"
    if len(lines) > _LIMIT:
        raise OSError(errno.EFBIG, "too many files for one change", file)
    _place(items, len(lines))
    handle = atomic.create(file, (lines, *contents))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        os.unlink(file)
        raise
    return handle


def _place(items: Sequence[JournalLine], at: int) -> int:
    """Set the offset of the old bytes of each line, and return where they end."""
    for item in items:
        item.offset = at
        at += item.size
    return at


def is_pending(folder: str) -> bool:
    """Return whether a folder has a journal whose writer is dead."""
    try:
        handle = os.open(f"{folder}/{JOURNAL}", _READ)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        os.close(handle)
    return True


@contextmanager
def opened(folder: str, name: str) -> Iterator[tuple[list[JournalLine], int] | None]:
    """Open and lock the journal of a dead writer in a real folder, or its draft; None where it is gone.

    An incomplete draft counts as empty: its writer died before it staged anything.
    """
    file = f"{folder}/{name}"
    try:
        _check(os.lstat(file), file)  # before `open` fails for another user's file, without a useful message
        handle = os.open(file, _READ)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _refusal(file, str(error.strerror)) from error
    try:
        _lock(handle, file)
        state = os.fstat(handle)
        _check(state, file)
        if not state.st_nlink:  # another command finished it meanwhile
            yield None
            return
        try:
            items = _parse(folder, file, handle, state.st_size)
        except InputError:
            if name == JOURNAL:
                raise
            items = []
        yield items, handle
    finally:
        os.close(handle)


def _check(state: os.stat_result, file: str) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _refusal(file, "it is not a regular file")
    if state.st_uid != os.geteuid():
        raise _refusal(file, f"it belongs to the user {state.st_uid}, whose next command finishes that change")


def _lock(handle: int, file: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        raise UnavailableError(Problem(f"cannot be locked: {error.strerror}", file=file)) from error


def _parse(folder: str, file: str, handle: int, size: int) -> list[JournalLine]:
    real: dict[str, str] = {}
    items: dict[str, JournalLine] = {}
    names: set[str] = set()
    with open(os.dup(handle), "rb") as stream:
        head = _object(stream.readline(_LINE), file)
        count = head.get("files")
        if head.get("form") != _FORM or not isinstance(count, int) or not 0 < count <= size:
            raise _refusal(file, "packyard did not write it")
        if head.get("owner") != os.geteuid():
            raise _refusal(file, "another user wrote it")
        at = stream.tell()
        for _ in range(count):
            line = stream.readline(_LINE)
            at += len(line)
            item = _item(folder, _object(line, file), file, real)
            if at > _LIMIT or item.file in items or item.staged in names:
                raise _refusal(file, "packyard did not write it")
            items[item.file] = item
            names.add(item.staged)
    lines = list(items.values())
    if _place(lines, at) != size:
        raise _refusal(file, "it is truncated, or has data after its end")
    return lines


def _object(line: bytes, file: str) -> dict[str, object]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _refusal(file, "packyard did not write it")
    return document


def _item(folder: str, fields: dict[str, object], journal: str, real: dict[str, str]) -> JournalLine:
    path, old, new, size, staged = (fields.get(key) for key in ("path", "old", "new", "size", "staged"))
    if (
        not isinstance(path, str)
        or not isinstance(staged, str)
        or not re.fullmatch(_STAGED_NAME, staged)
        or not (old is None or (isinstance(old, str) and re.fullmatch(_DIGEST, old)))
        or not (new is None or (isinstance(new, str) and re.fullmatch(_DIGEST, new)))
        or not isinstance(size, int)
        or not 0 <= size <= (0 if old is None else regular.LIMIT)
        or old == new
    ):
        raise _refusal(journal, "packyard did not write it")
    if not _is_canonical(folder, path, real):
        raise _refusal(journal, f"it names {path!r}, which leads out of the folder")
    file = os.path.join(folder, path)
    return JournalLine(file, old, new, size, beside(file, staged))


def _is_canonical(folder: str, path: str, real: dict[str, str]) -> bool:
    """Return whether a path leads below a real folder without links; ``real`` caches the real paths of folders."""
    if any(part in ("", ".", "..") for part in path.split("/")):
        return False
    try:
        if b"\0" in os.fsencode(path):
            return False
    except ValueError:  # no file can have such a name
        return False
    above = os.path.dirname(os.path.join(folder, path))
    if above not in real:
        real[above] = os.path.realpath(above)
    return real[above] == above


def _refusal(file: str, why: str) -> InputError:
    import shlex

    hint = f"nothing was done; look at it, then remove it: rm {shlex.quote(file)}"
    return InputError(Problem(f"this journal of an interrupted change cannot be used: {why}", file=file, hint=hint))
