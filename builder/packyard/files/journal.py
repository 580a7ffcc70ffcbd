"""The journal of a change: what a command is about to replace, so that whoever comes after a crash can tell.

It lies in the root folder of the change, and says of every file: its path, the digests of its old and its new bytes,
and the name under which the new bytes are staged beside it; the old bytes follow. It is written under the name of a
draft, and decides by its own name. While its writer lives it is locked.

What it says is believed of nobody: it has to be one's own, and names no file but those below its folder, by paths
without links. `recovery` compares the files with it before it does anything.
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

from packyard.errors import InputError, Problem, UnavailableError
from packyard.files import atomic, regular

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from typing import Any

JOURNAL = ".packyard-journal"
DRAFT = ".packyard-draft"

_STAGED = ".packyard-new-"
_STAGED_NAME = r"\.packyard-new-[0-9a-f]{16}-[0-9]{1,9}"
_DIGEST = r"[0-9a-f]{64}"
_FORM = "packyard journal 1"
_LIMIT = 16 << 20  # of what is said of the files; their old bytes are not read but where they are wanted
_LINE = 1 << 16
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class JournalLine:
    """What a journal says of one file: digests of its bytes, None where there is no file before, or after."""

    __slots__ = ("file", "new", "offset", "old", "size", "staged")

    def __init__(self, file: str, old: str | None, new: str | None, size: int, staged: str) -> None:
        self.file = file
        self.old = old
        self.new = new
        #: Of the old bytes.
        self.size = size
        #: Where the old bytes begin in the journal.
        self.offset = 0
        #: The new bytes, until they take the file's place; for a file that is removed, the file until the end.
        self.staged = f"{os.path.dirname(file)}/{staged}"

    def line(self, root: str) -> bytes:
        """Return what the journal of a root says."""
        path, staged = self.file[len(root) :].lstrip("/"), os.path.basename(self.staged)
        said = {"path": path, "old": self.old, "new": self.new, "size": self.size, "staged": staged}
        return json.dumps(said).encode() + b"\n"

    def old_bytes(self, handle: int) -> bytes | None:
        """Return the old bytes that an open journal has kept, if they are those."""
        if self.old is None:
            return None
        data = b""
        while len(data) < self.size and (more := os.pread(handle, self.size - len(data), self.offset + len(data))):
            data += more
        return data if digest(data) == self.old else None


def digest(data: bytes) -> str:
    """Return the digest by which a journal knows bytes."""
    return str(_sha256()(data).hexdigest())


@cache
def _sha256() -> Any:
    """Return SHA-256 without `hashlib`, which brings OpenSSL: that takes a twentieth of the time of a set."""
    for name in ("_sha2", "_sha256"):  # of CPython, since 3.12 and before
        with suppress(ImportError):
            return import_module(name).sha256
    from hashlib import sha256

    return sha256


def staged_names() -> Iterator[str]:
    """Yield names for staged files that nobody can guess."""
    token = os.urandom(8).hex()
    number = 0
    while True:
        yield f"{_STAGED}{token}-{number}"
        number += 1


def draft(root: str, items: Sequence[JournalLine], contents: Sequence[bytes]) -> int:
    """Write the draft of a journal, with the old bytes of each item that has some; return it open and locked."""
    head = json.dumps({"form": _FORM, "owner": os.geteuid(), "files": len(items)}).encode() + b"\n"
    lines = b"".join((head, *(item.line(root) for item in items)))
    file = f"{root}/{DRAFT}"
    if len(lines) > _LIMIT:
        raise OSError(errno.EFBIG, "too many files for one change", file)
    _place(items, len(lines))
    handle = atomic.create(file, lines, b"".join(contents))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        os.unlink(file)
        raise
    return handle


def _place(items: Sequence[JournalLine], at: int) -> int:
    """Let the items know where their old bytes are; return where these end."""
    for item in items:
        item.offset = at
        at += item.size
    return at


def is_pending(folder: str) -> bool:
    """Say whether a folder has a journal that no living writer holds."""
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
    """Open and lock the journal of a dead writer in a real folder, or its draft; None where there is none any more.

    What is no whole draft is an empty one: its writer died over it, before it staged anything.
    """
    file = f"{folder}/{name}"
    try:
        _check(os.lstat(file), file)  # before it is opened: another user's cannot be, and that would say nothing
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
        raise _refusal(file, "it is no regular file")
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
    found = list(items.values())
    if _place(found, at) != size:
        raise _refusal(file, "its end is missing, or something stands behind it")
    return found


def _object(line: bytes, file: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _refusal(file, "packyard did not write it")
    return found


def _item(folder: str, said: dict[str, object], journal: str, real: dict[str, str]) -> JournalLine:
    path, old, new, size, staged = (said.get(key) for key in ("path", "old", "new", "size", "staged"))
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
    return JournalLine(os.path.join(folder, path), old, new, size, staged)


def _is_canonical(folder: str, path: str, real: dict[str, str]) -> bool:
    """Say whether a path leads below a real folder by no link; what is known of folders is kept in ``real``."""
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
