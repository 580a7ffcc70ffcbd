"""What a task asked of its sources, noted as it asks, so that its result can be kept for exactly as long as it holds.

    with Reads(root_dir) as reads:
        result = work(reads.root_dir)        it read root_dir / "a" / "b.yaml", and found that root_dir / "c" is no file
    reads.facts  ->  {("bytes", "a/b.yaml"): "sha256:…", ("is_file", "c"): "False"}

``reads.root_dir`` is a `SourcePath`: a path that notes what it answers, as does every path that is made from it. What
goes round it (``open(path)``, ``os.listdir(path)``) is not noted; tests/work/test_reads.py finds that out.

It is also the gate around the sources: a path that leads out of the root, by ``..``, as an absolute one or by a link,
answers nothing, whoever asks; so does a file that is no regular one.

What many tasks of one run make of the same sources is made by `once`, for the first of them; the others note what it
asked, and so rest on the same facts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable, Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any, NoReturn, TypeVar

from packyard.digest import Digest
from packyard.errors import InputError, PackyardError, Problem
from packyard.files import regular
from packyard.files.paths import Gate

#: What was asked, of which path (below the root, or absolute), and the answer.
Fact = tuple[str, str, str]

Made = TypeVar("Made")

_LIMIT = 1024  # results that `Shared` keeps
_OUTSIDE = "outside"  # the answer to whatever is asked of what is not below the root

_current: ContextVar[Reads | None] = ContextVar("reads", default=None)


@dataclass(slots=True)
class _Asked:
    """What was asked, with the answers, and the files that were read, each with its digest."""

    answers: dict[tuple[str, str], str]
    files: dict[str, tuple[bytes, Digest]]


class Shared:
    """What was made by `once` in one run over some sources, and what was asked for it.

    The sources are taken to stay as they are for the length of the run. Where they do not, the later tasks rest on what
    the first one saw, and say so: their facts are its own.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[_Asked, Any]] = {}
        self.folders: dict[str, str] = {}  # real paths

    def get(self, key: Hashable) -> tuple[_Asked, Any] | None:
        """Return what was made under a key, and what was asked for it."""
        return self._made.get(key)

    def keep(self, key: Hashable, asked: _Asked, made: object) -> None:
        """Keep what was made, in the place of the oldest where there is no room."""
        if len(self._made) >= _LIMIT:
            del self._made[next(iter(self._made))]
        self._made[key] = (asked, made)


class Reads:
    """The facts about its sources that a task asked for; ``torn`` if one changed while it was at work.

    A file is read once, so that a task sees one state of it. ``shared`` is that of a run with many tasks.
    """

    def __init__(self, root_dir: Path, shared: Shared | None = None) -> None:
        self.root_dir = SourcePath(root_dir)
        self.torn = False
        self._shared = Shared() if shared is None else shared
        self._files: dict[str, tuple[bytes, Digest]] = {}
        self._asked = _Asked({}, {})
        self._joined: set[Hashable] = set()  # keys of `once` whose facts are noted in what is asked now
        self._names = _Names(root_dir)
        self._gate = Gate(root_dir, self._shared.folders)
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
        return [(question, name, answer) for (question, name), answer in self._asked.answers.items()]

    def note(self, question: str, path: Path, answer: object) -> None:
        """Keep the answer to a question."""
        text = self._names.name(str(answer)) if question == "resolve" else str(answer)
        known = self._asked.answers.setdefault((question, self._names.name(str(path))), text)
        self.torn = self.torn or known != text

    def check(self, question: str, path: Path) -> None:
        """Refuse a question about what is not below the root."""
        if "\0" in str(path):
            raise InputError(Problem("no file has such a name", file=str(path)))
        if leads := self._gate.outside(str(path)):
            self.note(question, path, _OUTSIDE)
            raise InputError(Problem(f"leads to {leads}, outside of the workspace", file=str(path)))

    def read(self, path: SourcePath) -> bytes:
        """Return a file's bytes, those of the first time."""
        self.check("bytes", path)
        name = str(path)
        known = self._files.get(name)
        if known is None:
            data = _read(path)
            self._files[name] = known = (data, Digest.of(data))
        self._asked.files[name] = known
        self.note("bytes", path, known[1])
        return known[0]

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned the first time in this run, and note what it asked then."""
        known = self._shared.get(key)
        if known is None:
            asked, joined = self._asked, self._joined
            self._asked, self._joined = _Asked({}, {}), set()
            try:
                made = make()
            finally:
                inner, self._asked, self._joined = self._asked, asked, joined
                self._join(inner)
            known = (inner, made)
            if not self.torn:
                self._shared.keep(key, *known)
        elif key not in self._joined:
            self._join(known[0])
        self._joined.add(key)
        return known[1]

    def _join(self, other: _Asked) -> None:
        """Note what was asked elsewhere; where the answers are not those of here, the sources changed in between."""
        mine = self._asked.answers
        for question, answer in other.answers.items():
            self.torn = mine.setdefault(question, answer) != answer or self.torn
        self._asked.files.update(other.files)
        self._files = {**other.files, **self._files}


class Observed:
    """The answers of now, each asked for once: for use while sources are taken to stay as they are, one command say."""

    def __init__(self, root_dir: Path) -> None:
        self._names = _Names(root_dir)
        self._gate = Gate(root_dir, {})
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
        if self._gate.outside(str(path)):
            return _OUTSIDE
        try:
            if word == "glob":
                return _listing(path, path.glob(pattern))
            if word == "resolve":
                return self._names.name(os.path.realpath(path))
            return str(_ANSWERS[word](path))
        except (OSError, PackyardError) as error:
            return _failure(error)


class SourcePath(PosixPath):
    """A path of the sources, which are read whole and never written: it tells the `Reads` at work what it answers."""

    def read_bytes(self) -> bytes:
        """Return the file's bytes."""
        reads = _current.get()
        return reads.read(self) if reads else _read(self)

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
        _check("mode", self)
        try:
            state = _plain(self).stat()
        except OSError as error:
            _note("mode", self, _failure(error))
            raise
        _note("mode", self, state.st_mode)
        return state

    def resolve(self, strict: bool = False) -> SourcePath:
        """Return the path without links."""
        _check("resolve", self)
        if strict:
            self._refuse()
        found = type(self)(os.path.realpath(self))
        _note("resolve", self, found)
        return found

    def iterdir(self) -> Generator[SourcePath, None, None]:
        """Yield what is in the folder, by name."""
        _check("glob *", self)
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
        _check(f"glob {pattern}", self)
        found = sorted(_plain(self).glob(pattern))
        _note(f"glob {pattern}", self, _listing(self, found))
        yield from map(type(self), found)

    def rglob(self, pattern: str, **options: object) -> Generator[SourcePath, None, None]:
        """Yield what matches a pattern here or below, sorted."""
        yield from self.glob(f"**/{pattern}", **options)

    def _say(self, question: str) -> bool:
        _check(question, self)
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


def once(key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what `Reads.once` does for the task at work; where nobody notes what is asked, it is made."""
    reads = _current.get()
    return make() if reads is None else reads.once(key, make)


def _read(path: SourcePath) -> bytes:
    try:
        return regular.read(path)
    except PackyardError as error:
        _note("bytes", path, _failure(error))
        raise


def _check(question: str, path: Path) -> None:
    reads = _current.get()
    if reads is not None:
        reads.check(question, path)


def _note(question: str, path: Path, answer: object) -> None:
    reads = _current.get()
    if reads is not None:
        reads.note(question, path, answer)


def _plain(path: Path) -> Path:
    return Path(str(path))


def _failure(error: OSError | PackyardError) -> str:
    cause = error.__cause__ if isinstance(error, PackyardError) else error
    return f"error {cause.errno if isinstance(cause, OSError) else ''}"


def _listing(folder: Path, paths: Iterable[Path]) -> str:
    return Digest.of(os.fsencode("\0".join(sorted(str(path)[len(str(folder)) :] for path in paths))))


_ANSWERS: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda path: Digest.of(regular.read(path)),
    "exists": os.path.exists,
    "is_file": os.path.isfile,
    "is_dir": os.path.isdir,
    "is_symlink": os.path.islink,
    "mode": lambda path: path.stat().st_mode,
}
