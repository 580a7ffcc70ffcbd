"""A store in a directory, on a local disk or a shared POSIX file system; a web server can serve it as it is.

Objects are written in one step: `put` links a whole temporary file to its name, and never replaces one
(`core.files.atomic`); `swap` compares and replaces under a lock (`core.files.exchange`). A killed writer leaves at most
a temporary file, which is never listed, as the lock is not.

The content of the directory may be hostile: no link may lead out of it, and only regular files are read, up to a limit.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files import atomic, paths, regular
from packyard.core.files.exchange import exchange
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.store import (
    MissingStoreError,
    NotFoundError,
    UnmadeStoreError,
    check_key,
    check_same,
    patience,
    too_long,
)

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_DEPTH = 32  # folders in folders: more than any channel has
_NO_FOLDER = "a channel is a folder, or an address such as https://HOST/PATH or s3://BUCKET/PATH"
_NO_FILE = "a channel has folders and files, and no links out of it: whoever publishes there removes this"


@dataclass(frozen=True)  # with slots, subclasses could not have attributes
class DirectoryStore:
    """The store whose keys are the paths below a directory; the first write creates it."""

    root_dir: Path

    @property
    def address(self) -> str:
        """The directory."""
        return str(self.root_dir)

    def keeps_conditions(self) -> bool:
        """Return that one writer wins: hard links and locks are exclusive."""
        return True

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        file = self._file(key)
        with _translated(file, writes=True):
            _make_dir(file.parent)
            try:
                atomic.write(str(file), data, mode=0o644, durable=True, replace=False)
            except FileExistsError:
                stored = regular.read(file, limit=max(LIMIT, len(data)))
                check_same(str(file), Digest.of(stored), Digest.of(data))
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
                problem = "its file system has no hard links, without which nobody can tell who publishes first"
                hint = "publish to another folder, a bucket or a registry"
                raise UnavailableError(Problem(problem, file=str(file), hint=hint)) from error

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`. What is no file, or lies elsewhere, is an `IntegrityError`."""
        check_key(key)
        try:
            file = self._file(key)
            with _translated(file):
                if not file.exists() or file.is_dir():
                    raise self._missing(file)
                with regular.opened(file) as opened:
                    data = opened.read(limit + 1)
        except InputError as error:
            if os.path.lexists(self.root_dir / key):
                raise IntegrityError(*error.problems) from error
            raise self._missing(self.root_dir / key) from error  # removed meanwhile
        if len(data) > limit:
            raise too_long(str(file), limit)
        return data

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        directory, end = prefix.rpartition("/")[0], time.time() - age
        start_dir = self._file(directory) if directory else self.root_dir
        with _translated(start_dir):
            keys = sorted(key for key in self._walk(start_dir) if key.startswith(prefix))
            return [key for key in keys if not age or (self.root_dir / key).stat().st_mtime < end]

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        file = self._file(key)
        with _translated(file, writes=True):
            _make_dir(file.parent)
            exchange(str(file), data, expected, mode=0o644, patience=patience())

    def remove(self, key: str) -> None:
        """Remove an object; see `Store.remove`."""
        file = self._file(key)
        with _translated(file, writes=True), suppress(FileNotFoundError, NotADirectoryError):
            file.unlink()

    def _missing(self, file: Path) -> NotFoundError | MissingStoreError:
        with _translated(file):
            if self.root_dir.is_dir():
                return NotFoundError(Problem("is a directory" if file.is_dir() else "no such file", file=str(file)))
            is_file = self.root_dir.exists()
            problem = "is a file, and a folder is needed here" if is_file else "no such file or directory"
            kind = MissingStoreError if is_file else UnmadeStoreError
            return kind(Problem(problem, file=str(self.root_dir), hint=_NO_FOLDER))

    def _file(self, key: str) -> Path:
        check_key(key)
        file = self.root_dir / key
        with _translated(file):
            if leads := paths.outside(self.root_dir, file):
                raise InputError(Problem(f"leads to {leads}, outside of {self.root_dir}", file=str(file)))
        return file

    def _walk(self, start_dir: Path) -> Iterator[str]:
        if not start_dir.is_dir():
            return
        for directory, names, files in os.walk(start_dir, onerror=_raise):
            folder = Path(directory).relative_to(self.root_dir)
            names[:] = [name for name in names if not name.startswith(".") and len(folder.parts) < _DEPTH]
            for file in files:
                if not file.startswith("."):
                    yield (folder / file).as_posix()


def _make_dir(directory: Path) -> None:
    """Create a directory and its parents, durably, and readable for all whatever the umask."""
    if directory.is_dir():
        return
    _make_dir(directory.parent)
    try:
        directory.mkdir()
    except FileExistsError as error:
        if directory.is_dir():
            return  # another writer was faster
        raise regular.not_a_folder(directory) from error
    directory.chmod(stat.S_IMODE(directory.stat().st_mode) | 0o755)
    atomic.flush(str(directory.parent))


def _raise(error: OSError) -> None:
    raise error


def _readable(where: str) -> str:
    return f"ask whoever it belongs to; all may read it after: chmod a+rX {quote(where)}"


@contextmanager
def _translated(file: Path, *, writes: bool = False) -> Iterator[None]:
    try:
        yield
    except UnavailableError as error:  # of a file that is read
        is_denied = isinstance(error.__cause__, PermissionError)
        raise (error.hinted(_readable(str(file))) if is_denied else error) from error.__cause__
    except InputError as error:  # a link that leads out, or no regular file
        raise error.hinted(_NO_FILE) from error
    except OSError as error:
        where = str(error.filename2 or error.filename or file)
        hint = _readable(where) if isinstance(error, PermissionError) else ""
        if writes and (hint or error.errno in _NO_ROOM):
            where, hint = (
                str(file),
                "you may not write there: ask whoever it belongs to" if hint else "make room there, then run again",
            )
        raise UnavailableError(Problem(error.strerror or str(error), file=where, hint=hint)) from error
