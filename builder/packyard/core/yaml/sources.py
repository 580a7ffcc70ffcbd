"""The files of a workspace and of its libraries: read only, each once, and only what lies below their roots.

    sources = Sources(root_dir)
    sources.read("packages/bert-k8s/package.yaml")     b"apiVersion: packyard/v1…"
    sources.facts                                      [("bytes", "packages/bert-k8s/package.yaml", "sha256:…")]

Paths are texts below the root, joined by slashes; the root is empty. ``libraries/NAME`` is the root of the library
NAME, wherever its files are. Each answer is noted as a fact: a result that was made from these sources is still good
where `Observed` finds the same facts. A path that leads out of the root that it begins in, by ``..``, as an absolute
one or by a link, is refused whatever is asked of it, and so is a file that is not a regular one. A path of a workspace
may lead into its libraries, one of a library into those that it builds on itself, and nowhere else.

What many tasks of a run make of the same sources is made by `Sources.once` for the first of them; the others note the
facts that it rests on.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError, Problem
from packyard.core.files import regular
from packyard.core.work.kept import Fact
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases
from packyard.core.yaml.document import source_of
from packyard.core.yaml.node import Document, Source
from packyard.core.yaml.roots import LIBRARIES as LIBRARIES
from packyard.core.yaml.roots import SourceTree, Trees

Made = TypeVar("Made")

_OUTSIDE = "outside"  # the answer to whatever is asked of what is not below the root
_ALONE: Mapping[str, Path] = {}


@dataclass(slots=True)
class _Asked:
    """The answers to questions about paths, and the files that were read, each with its digest."""

    answers: dict[tuple[str, str], str] = field(default_factory=dict)
    files: dict[str, tuple[bytes, Digest]] = field(default_factory=dict)


class Sources:
    """The files below ``root_dir`` as one task sees them; ``torn`` if one changed while the task was at work.

    ``memo`` is that of a run with many tasks. The sources are taken to stay as they are for the length of the run.
    Where they do not, the later tasks rest on what the first one saw, and say so: their facts are its own.

    ``libraries`` are the folders of libraries by their places, ``libraries/NAME``.
    """

    def __init__(self, root_dir: Path, memo: Memo | None = None, libraries: Mapping[str, Path] = _ALONE) -> None:
        self.root_dir = root_dir
        self.memo = Memo() if memo is None else memo
        self.torn = False
        self._trees = Trees(root_dir, libraries, self.memo)
        self._root = self._trees.find("")[0].root
        self._files: dict[str, tuple[bytes, Digest]] = {}
        self._asked = _Asked()
        self._joined: set[Hashable] = set()  # keys of `once` whose facts are noted in what is asked now

    @property
    def facts(self) -> list[Fact]:
        """What was asked, in the order of the first time, and the answers."""
        return [(question, path, answer) for (question, path), answer in self._asked.answers.items()]

    def shown(self, path: str) -> str:
        """Return a path as messages show it: below the root as the user named that, or below that of its library."""
        tree, rest = self._trees.find(path)
        return str(tree.root_dir / rest)

    def read(self, path: str) -> bytes:
        """Return a file's bytes, those of the first time."""
        self._check("bytes", path)
        content = self._files.get(path)
        if content is None:
            try:
                data = regular.read(self.shown(path))
            except PackyardError as error:
                self._note("bytes", path, _failure(error))
                raise
            self._files[path] = content = (data, Digest.of(data))
        self._asked.files[path] = content
        self._note("bytes", path, content[1])
        return content[0]

    def text(self, path: str) -> Source:
        """Return a file's text."""
        return source_of(self.read(path), self.shown(path))

    def documents(self, path: str) -> list[Document]:
        """Return the YAML documents of a file, with aliases followed, for a caller who changes no node."""
        return [each for each in aliases.read(self.text(path), self.memo) if each.root is not None]

    def exists(self, path: str) -> bool:
        """Say whether there is anything, links followed."""
        return self._ask("exists", path) == "True"

    def is_file(self, path: str) -> bool:
        """Say whether there is a file, links followed."""
        return self._ask("is_file", path) == "True"

    def is_folder(self, path: str) -> bool:
        """Say whether there is a folder, links followed."""
        return self._ask("is_folder", path) == "True"

    def is_link(self, path: str) -> bool:
        """Say whether there is a symbolic link."""
        return self._ask("is_link", path) == "True"

    def is_executable(self, path: str) -> bool:
        """Say whether the owner of a file may run it."""
        return self._ask("is_executable", path) == "True"

    def resolve(self, path: str) -> str:
        """Return the path without links and dots."""
        return self._ask("resolve", path)

    def list(self, folder: str, pattern: str = "*") -> list[str]:
        """Return what matches a pattern of ``pathlib`` below a folder, sorted."""
        question = f"list {pattern}"
        tree, rest = self._check(question, folder)
        matches = _matches(tree.root, rest, pattern)
        self._note(question, folder, _digest(matches))
        return [posixpath.join(folder, path) for path in matches]

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned the first time in this run, and note the facts that it rests on."""
        key = (self._root, key)

        def noted() -> tuple[_Asked, Made]:
            outer, self._asked = (self._asked, self._joined), _Asked()
            self._joined = set()
            try:
                result = make()
            finally:
                inner = self._asked
                self._asked, self._joined = outer
                self._join(inner)
            self._joined.add(key)
            return inner, result

        questions, result = self.memo.once(key, noted)
        if self.torn:
            self.memo.forget(key)
        if key not in self._joined:
            self._join(questions)
            self._joined.add(key)
        return result

    def _check(self, question: str, path: str) -> tuple[SourceTree, str]:
        """Return the tree of a path, and the path in it; refuse a question about what is not below its root."""
        if "\0" in path:
            raise InputError(Problem("no file has such a name", file=self.shown(path)))
        tree, rest = self._trees.find(path)
        if leads := tree.gate.outside(str(tree.root / rest)):
            self._note(question, path, _OUTSIDE)
            whose = f"library {posixpath.basename(tree.place)}" if tree.place else "workspace"
            raise InputError(Problem(f"leads to {leads}, outside of the {whose}", file=self.shown(path)))
        return tree, rest

    def _ask(self, question: str, path: str) -> str:
        answer = _answer(*self._check(question, path), question)
        self._note(question, path, answer)
        return answer

    def _note(self, question: str, path: str, answer: str) -> None:
        self.torn = self._asked.answers.setdefault((question, path), answer) != answer or self.torn

    def _join(self, other: _Asked) -> None:
        """Note what was asked elsewhere; where the answers are not those of here, the sources changed in between."""
        for (question, path), answer in other.answers.items():
            self._note(question, path, answer)
        self._asked.files.update(other.files)
        self._files = {**other.files, **self._files}


class Observed:
    """Answers about the files as they are now, each found once: for one command, while sources do not change."""

    def __init__(self, root_dir: Path, libraries: Mapping[str, Path] = _ALONE) -> None:
        self._trees = Trees(root_dir, libraries, Memo())
        self._answers: dict[tuple[str, str], str] = {}

    def agrees(self, facts: Iterable[Fact]) -> bool:
        """Say whether all facts still hold."""
        return all(self._answer(question, path) == answer for question, path, answer in facts)

    def now(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return facts with the answers of now."""
        return [(question, path, self._answer(question, path)) for question, path, _ in facts]

    def _answer(self, question: str, path: str) -> str:
        answer = self._answers.get((question, path))
        if answer is None:
            answer = self._answers[question, path] = self._ask(question, path)
        return answer

    def _ask(self, question: str, path: str) -> str:
        word, _, pattern = question.partition(" ")
        tree, rest = self._trees.find(path)
        if tree.gate.outside(str(tree.root / rest)):
            return _OUTSIDE
        try:
            if word == "list":
                return _digest(_matches(tree.root, rest, pattern))
            if word == "bytes":
                return Digest.of(regular.read(tree.root / rest))
            return _answer(tree, rest, question)
        except (OSError, PackyardError) as error:
            return _failure(error)


def _matches(root: Path, folder: str, pattern: str) -> list[str]:
    """Return paths below a folder, sorted."""
    here = root / folder
    return [path.relative_to(here).as_posix() for path in sorted(here.glob(pattern))]


def _digest(paths: Iterable[str]) -> str:
    return Digest.of(os.fsencode("\0".join(paths)))


def _failure(error: OSError | PackyardError) -> str:
    cause = error.__cause__ if isinstance(error, PackyardError) else error
    return f"error {cause.errno if isinstance(cause, OSError) else ''}"


def _answer(tree: SourceTree, path: str, question: str) -> str:
    """Return the answer of now, where it can be given in a word."""
    if question == "resolve":
        target = os.path.relpath(os.path.realpath(tree.root / path), os.path.realpath(tree.root))
        return posixpath.join(tree.place, "" if target == "." else target).rstrip("/")
    return str(_QUESTIONS[question](tree.root / path))


def _is_executable(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o100)


_QUESTIONS: dict[str, Callable[[Path], bool]] = {
    "exists": os.path.exists,
    "is_file": os.path.isfile,
    "is_folder": os.path.isdir,
    "is_link": os.path.islink,
    "is_executable": _is_executable,
}
