"""A store in a directory, on a local disk or a shared POSIX file system, that a web server can serve as it is.

Objects appear whole: written to a temporary file beside their place, synced to disk, and then linked (`put`, which
never replaces) or renamed (`swap`, under a lock) into it. A writer that is killed leaves at most a file called
``.<name>.<random>.tmp``, which is never listed; the kernel releases its lock.

File systems without hard links cannot create exclusively and whole at once: there `put` takes the lock, looks, and
renames, so that it excludes other packyards, but not somebody who copies files there by hand at that very moment.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packyard.channel.stores.store import NotFoundError, check_key
from packyard.digest import Digest
from packyard.errors import ConflictError, Problem, UnavailableError

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class DirectoryStore:
    """The store whose keys are the paths below a directory, which is created by the first write."""

    def __init__(self, root_dir: Path) -> None:
        self._root_dir = root_dir

    def __repr__(self) -> str:
        return f"DirectoryStore({str(self._root_dir)!r})"

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        file = self._file(key)
        with _translated(file):
            if file.is_file() or not self._create(file, data):
                _check_same(file, data)

    def get(self, key: str) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        file = self._file(key)
        with _translated(file):
            found = _read(file)
        if found is None:
            missing = file if self._root_dir.is_dir() else self._root_dir
            raise NotFoundError(Problem("no such file or directory", file=str(missing)))
        return found

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        directory = prefix.rpartition("/")[0]
        start_dir = self._file(directory) if directory else self._root_dir
        with _translated(start_dir):
            return sorted(key for key in self._walk(start_dir) if key.startswith(prefix))

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        file = self._file(key)
        with _translated(file), self._lock():
            current = _read(file)
            found = None if current is None else Digest.of(current)
            if found != expected:
                problem = f"was changed meanwhile: expected {expected or 'nothing'}, found {found or 'nothing'}"
                raise ConflictError(Problem(problem, file=str(file)))
            self._place(file, data, os.replace)

    def _file(self, key: str) -> Path:
        check_key(key)
        return self._root_dir / key

    def _create(self, file: Path, data: bytes) -> bool:
        """Create ``file`` exclusively; return False if it is there."""
        try:
            self._place(file, data, os.link)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            return self._create_without_links(file, data)
        return True

    def _create_without_links(self, file: Path, data: bytes) -> bool:
        with self._lock():
            if file.exists():
                return False
            self._place(file, data, os.replace)
            return True

    def _place(self, file: Path, data: bytes, move: Callable[[Path, Path], None]) -> None:
        """Write ``data`` beside ``file``, durably and readable for all, then ``move`` it into place."""
        _make_dir(file.parent)
        temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as stream:
                os.fchmod(stream.fileno(), 0o644)
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            move(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_dir(file.parent)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the store's one lock, waiting for it; all packyards that write here take it."""
        _make_dir(self._root_dir)
        descriptor = os.open(self._root_dir / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _walk(self, start_dir: Path) -> Iterator[str]:
        if not start_dir.is_dir():
            return
        for directory, names, files in os.walk(start_dir, onerror=_raise):
            names[:] = [name for name in names if not name.startswith(".")]
            for file in files:
                if not file.startswith("."):
                    yield (Path(directory) / file).relative_to(self._root_dir).as_posix()


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _check_same(file: Path, data: bytes) -> None:
    found, wanted = Digest.of(file.read_bytes()), Digest.of(data)
    if found != wanted:
        problem = f"exists with other bytes: {found} is there, {wanted} was to be written"
        raise ConflictError(Problem(problem, file=str(file), hint="what is published never changes"))


def _make_dir(directory: Path) -> None:
    """Create a directory and those above it, durably, and readable for all whatever the umask."""
    if directory.is_dir():
        return
    _make_dir(directory.parent)
    try:
        directory.mkdir()
    except FileExistsError:
        return  # another writer was faster
    directory.chmod(stat.S_IMODE(directory.stat().st_mode) | 0o755)
    _sync_dir(directory.parent)


def _sync_dir(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def _translated(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = str(error.filename or file)
        raise UnavailableError(Problem(error.strerror or str(error), file=where)) from error
