"""The files of a directory in a pod, sent by tar, again for what a lost connection left; large ones by themselves.

The pod reads the names that are wanted, so that what is here already is not sent again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import Popen, TimeoutExpired
from typing import IO

from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.running.results import listing, received
from packyard.running.results.listing import Listed, Listing
from packyard.running.results.received import Folder
from packyard.running.runs.kubectl import Kubectl

Done = Callable[[Listed], None]

#: Names as arguments: not every tar reads them from a file.
SEND = """\
cd "$1" && shift && while IFS= read -r name; do [ "$name" = . ] && break; set -- "$@" "$name"; done
exec tar -cf - "$@"
"""
_MANY, _LONG = 1000, 100_000  # names of one tar, and the bytes of these
_ONE = 'cd "$1" && cat "./$2"'
_TRIES = 5
_PIECE = 256 * 1024
_ENDING = 10  # seconds that kubectl has to end after its output did


class CutError(UnavailableError):
    """The connection was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A directory in a pod, as a container has it."""

    kubectl: Kubectl
    pod: str
    container: str
    directory: str

    def list(self) -> Listing:
        """List its files."""
        return listing.read(self.kubectl, self._words(), self.directory)

    def _words(self, *flags: str) -> Sequence[str]:
        return ("exec", *flags, self.pod, f"--container={self.container}", "--")

    def copy(self, files: Sequence[Listed], folder: Folder, done: Done) -> Sequence[Listed]:
        """Copy files, and return those that went away meanwhile; raise `CutError` where no try brings one further."""
        left = {each.path: each for each in files}

        def whole(listed: Listed) -> None:
            left.pop(listed.path, None)
            done(listed)

        for batch in _batches([each for each in files if each.size <= received.LARGEST]):
            for number in range(_TRIES):
                before = len(left)
                try:
                    self._tar([each for each in batch if each.path in left], folder, whole)
                    break
                except CutError:
                    if len(left) == before or number == _TRIES - 1:
                        raise
        for listed in tuple(left.values()):
            self._one(listed, folder, whole)
        return tuple(left.values())

    def _tar(self, files: Sequence[Listed], folder: Folder, done: Done) -> None:
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
        """Yield what a command prints; what is wrong with that is `CutError` where the command was cut off."""
        with tempfile.TemporaryFile() as errors, self.kubectl.start(*words, stderr=errors, **streams) as process:
            assert process.stdout
            try:
                yield process.stdout
            except IntegrityError as error:
                if _was_cut(process):
                    raise CutError(
                        Problem("the connection to the pod was lost", hint="type the command again")
                    ) from error
                raise
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


def _was_cut(process: Popen[bytes]) -> bool:
    """Say whether kubectl ended with an error; one that goes on sending was not cut off."""
    try:
        return process.wait(_ENDING) != 0
    except TimeoutExpired:
        return False
