"""The files of a directory in a pod, sent by tar, again for what a lost connection left; large ones by themselves.

The pod reads the names that are wanted, so that what is here already is not sent again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import Popen, TimeoutExpired
from typing import IO, Any, TypeVar

from packyard.core.errors import IntegrityError
from packyard.running.results import listing, received
from packyard.running.results.listing import CutError, Listed, Listing
from packyard.running.results.received import Folder
from packyard.running.runs import kubectl as clients
from packyard.running.runs.kubectl import Kubectl

T = TypeVar("T")
Done = Callable[[Listed], None]

#: Names as arguments: not every tar reads them from a file.
SEND = """\
cd "$1" && shift && while IFS= read -r name; do [ "$name" = . ] && break; set -- "$@" "$name"; done
exec tar -cf - "$@"
"""
_MANY, _LONG = 1000, 100_000  # names of one tar, and the bytes of these
_ONE = 'cd "$1" && cat "./$2"'
_PIECE = 256 * 1024
_ENDING = 10  # seconds that kubectl has to end after its output did


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A directory in a pod, as a container has it; each of ``pauses`` is the seconds before one more try."""

    kubectl: Kubectl
    pod: str
    container: str
    directory: str
    pauses: Sequence[float] = (0.2, 1, 2, 4)

    def list(self) -> Listing:
        """List its files."""
        return self._again(listing.read, self.kubectl, self._words(), self.directory)

    def _words(self, *flags: str) -> Sequence[str]:
        return ("exec", *flags, self.pod, f"--container={self.container}", "--")

    def copy(self, files: Sequence[Listed], folder: Folder, done: Done) -> Sequence[Listed]:
        """Copy files, and return those that went away meanwhile; raise `CutError` where no try brings them."""
        left = {each.path: each for each in files}

        def whole(listed: Listed) -> None:
            left.pop(listed.path, None)
            done(listed)

        for batch in _batches([each for each in files if each.size <= received.LARGEST]):
            self._again(self._tar, batch, left, folder, whole)
        for listed in tuple(left.values()):
            self._again(self._one, listed, folder, whole)
        return tuple(left.values())

    def _again(self, attempt: Callable[..., T], *arguments: Any) -> T:
        for pause in self.pauses:
            try:
                return attempt(*arguments)
            except CutError:
                time.sleep(pause)
        return attempt(*arguments)

    def _tar(self, batch: Sequence[Listed], left: Collection[str], folder: Folder, done: Done) -> None:
        files = [each for each in batch if each.path in left]
        if not files:
            return
        with tempfile.TemporaryFile() as wanted:
            wanted.write(received.names(files))
            wanted.seek(0)
            words = (*self._words("--stdin"), "sh", "-c", SEND, "sh", self.directory)
            with self._output(*words, stdin=wanted) as source:
                folder.take(source, {each.path: each for each in files}, done)

    def _one(self, listed: Listed, folder: Folder, done: Done) -> None:
        """Copy one file, unless it is gone or shorter than it was."""
        words = (*self._words(), "sh", "-c", _ONE, "sh", self.directory, listed.path)
        try:
            with self._output(*words) as source:
                folder.write(listed, _pieces(source, listed), listed.size)
                done(listed)
        except _GoneError:
            return

    @contextmanager
    def _output(self, *words: str, **streams: IO[bytes]) -> Iterator[IO[bytes]]:
        """Yield what a command prints; `CutError` is raised where it ends too early, as kubectl may without an error.

        A file is shorter than it was only where the command says so, or ended well.
        """
        with tempfile.TemporaryFile() as stderr, self.kubectl.start(*words, stderr=stderr, **streams) as process:
            assert process.stdout
            try:
                yield process.stdout
            except (IntegrityError, _GoneError) as error:
                if not _has_ended(process):
                    raise
                stderr.seek(0)
                errors = clients.without_log(stderr.read())
                if isinstance(error, _GoneError) and (process.returncode == 0 or listing.has_failed(errors)):
                    raise
                raise CutError(errors) from error
            finally:
                process.kill()


def _batches(files: Sequence[Listed]) -> Iterator[list[Listed]]:
    batch, size = list[Listed](), 0
    for listed in files:
        if len(batch) == _MANY or size > _LONG:
            yield batch
            batch, size = [], 0
        batch.append(listed)
        size += len(listed.path)
    yield batch


class _GoneError(Exception):
    """A file is not what it was."""


def _pieces(source: IO[bytes], listed: Listed) -> Iterator[bytes]:
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        yield piece
    if size < listed.size:
        raise _GoneError


def _has_ended(process: Popen[bytes]) -> bool:
    """Say whether kubectl has ended; one that goes on sending was not cut off."""
    try:
        process.wait(_ENDING)
    except TimeoutExpired:
        return False
    return True
