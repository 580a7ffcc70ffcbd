"""What a task asked of its sources, noted as it asks, so that its result can be kept for exactly as long as it holds.

    with Reads(root_dir) as reads:
        result = work(reads.root_dir)        it read root_dir / "a" / "b.yaml", and found that root_dir / "c" is no file
    reads.facts  ->  {("bytes", "a/b.yaml"): "sha256:…", ("is_file", "c"): "False"}

``reads.root_dir`` is a `SourcePath`: a path that notes what it answers, as does every path that is made from it. What
goes round it (``open(path)``, ``os.listdir(path)``) is not noted; tests/work/test_kept.py finds that out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar, Token
from pathlib import Path, PosixPath
from typing import Any, NoReturn

from packyard.digest import Digest

#: What was asked, of which path (below the root, or absolute), and the answer.
Fact = tuple[str, str, str]

_current: ContextVar[Reads | None] = ContextVar("reads", default=None)


class Reads:
    """The facts about its sources that a task asked for; ``torn`` if one changed while it was at work.

    A file is read once: ``files`` has the bytes.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = SourcePath(root_dir)
        self.torn = False
        self.files: dict[str, bytes] = {}
        self._answers: dict[tuple[str, str], str] = {}
        self._names = _Names(root_dir)
        self._token: Token[Reads | None] | None = None

    def __enter__(self) -> Reads:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _current.reset(self._token)

    @property
    def facts(self) -> list[Fact]:
        """Return what was asked, in the order of the first time."""
        return [(question, name, answer) for (question, name), answer in self._answers.items()]

    def note(self, question: str, path: Path, answer: object) -> None:
        """Keep the answer to a question."""
        text = self._names.name(str(answer)) if question == "resolve" else str(answer)
        known = self._answers.setdefault((question, self._names.name(str(path))), text)
        self.torn = self.torn or known != text


class Observed:
    """The answers of now, each asked for once: for use while sources are taken to stay as they are, one command say."""

    def __init__(self, root_dir: Path) -> None:
        self._names = _Names(root_dir)
        self._answers: dict[tuple[str, str], str] = {}

    def agrees(self, facts: Iterable[Fact]) -> bool:
        """Say whether all facts still hold."""
        return all(self._answer(question, name) == answer for question, name, answer in facts)

    def _answer(self, question: str, name: str) -> str:
        found = self._answers.get((question, name))
        if found is None:
            found = self._answers[question, name] = self._ask(question, self._names.root / name)
        return found

    def _ask(self, question: str, path: Path) -> str:
        word, _, pattern = question.partition(" ")
        try:
            if word == "glob":
                return _listing(path, path.glob(pattern))
            if word == "resolve":
                return self._names.name(str(path.resolve()))
            return str(_ANSWERS[word](path))
        except OSError as error:
            return _failure(error)


class SourcePath(PosixPath):
    """A path of the sources, which are read whole and never written: it tells the `Reads` at work what it answers."""

    def read_bytes(self) -> bytes:
        """Return the file's bytes."""
        reads = _current.get()
        known = reads.files.get(str(self)) if reads else None
        if known is not None:
            return known
        try:
            data = _plain(self).read_bytes()
        except OSError as error:
            _note("bytes", self, _failure(error))
            raise
        _note("bytes", self, Digest.of(data))
        if reads:
            reads.files[str(self)] = data
        return data

    def read_text(self, encoding: str | None = None, errors: str | None = None, newline: str | None = None) -> str:
        """Return the file's text."""
        if encoding is None or newline is not None:
            self._refuse()
        return self.read_bytes().decode(encoding, errors or "strict")

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether there is anything."""
        if not follow_symlinks:
            self._refuse()
        return self._say("exists")

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether there is a file."""
        if not follow_symlinks:
            self._refuse()
        return self._say("is_file")

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether there is a folder."""
        if not follow_symlinks:
            self._refuse()
        return self._say("is_dir")

    def is_symlink(self) -> bool:
        """Say whether there is a symbolic link."""
        return self._say("is_symlink")

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the state, of which the mode is what counts."""
        if not follow_symlinks:
            self._refuse()
        try:
            state = _plain(self).stat()
        except OSError as error:
            _note("mode", self, _failure(error))
            raise
        _note("mode", self, state.st_mode)
        return state

    def resolve(self, strict: bool = False) -> SourcePath:
        """Return the path without links."""
        found = type(self)(_plain(self).resolve(strict))
        _note("resolve", self, found)
        return found

    def iterdir(self) -> Generator[SourcePath, None, None]:
        """Yield what is in the folder, by name."""
        try:
            found = sorted(_plain(self).iterdir())
        except OSError as error:
            _note("glob *", self, _failure(error))
            raise
        _note("glob *", self, _listing(self, found))
        yield from map(type(self), found)

    def glob(self, pattern: str, **options: object) -> Generator[SourcePath, None, None]:
        """Yield what matches a pattern, sorted."""
        if options:
            self._refuse()
        found = sorted(_plain(self).glob(pattern))
        _note(f"glob {pattern}", self, _listing(self, found))
        yield from map(type(self), found)

    def rglob(self, pattern: str, **options: object) -> Generator[SourcePath, None, None]:
        """Yield what matches a pattern here or below, sorted."""
        yield from self.glob(f"**/{pattern}", **options)

    def _say(self, question: str) -> bool:
        answer = bool(_ANSWERS[question](self))
        _note(question, self, answer)
        return answer

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError(f"{self}: a source is only asked what can be asked again: see {__name__}")

    open = lstat = readlink = walk = owner = group = samefile = touch = mkdir = unlink = rename = _refuse


class _Names:
    """Paths as facts call them: by their way from the root, so that facts hold wherever the sources lie."""

    def __init__(self, root_dir: Path) -> None:
        self.root = Path.cwd() / root_dir  # links and .. stay: a fact is asked again by the very way it was asked
        self._start = Path.cwd()
        self._above = [f"{root}/" for root in dict.fromkeys((str(self.root), os.path.realpath(root_dir)))]
        self._known: dict[str, str] = {}

    def name(self, path: str) -> str:
        found = self._known.get(path)
        if found is None:
            whole = str(self._start / path)
            found = next((whole[len(above) :] or "." for above in self._above if f"{whole}/".startswith(above)), whole)
            self._known[path] = found
        return found


def _note(question: str, path: Path, answer: object) -> None:
    reads = _current.get()
    if reads is not None:
        reads.note(question, path, answer)


def _plain(path: Path) -> Path:
    return Path(str(path))


def _failure(error: OSError) -> str:
    return f"error {error.errno}"


def _listing(folder: Path, paths: Iterable[Path]) -> str:
    return Digest.of("\0".join(sorted(str(path)[len(str(folder)) :] for path in paths)).encode())


_ANSWERS: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda path: Digest.of(path.read_bytes()),
    "exists": os.path.exists,
    "is_file": os.path.isfile,
    "is_dir": os.path.isdir,
    "is_symlink": os.path.islink,
    "mode": lambda path: path.stat().st_mode,
}
