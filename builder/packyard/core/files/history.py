"""The history that `undo` reads: for each command, the bytes of every file before and after its change.

It lies in the user's state folder, not in the packages, so it is never packed. Steps are numbered files. The newest
hundred are kept, up to 256 MiB together; the last one is kept whatever its size. A step is pending until its change was
made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.core.files import atomic, paths, regular
from packyard.core.files.replace import UnfinishedError
from packyard.core.files.tree import Tree

KEPT = 100
KEPT_BYTES = 256 << 20
_DONE, _PENDING, _UNDONE = "json", "pending", "undone"

#: Merges a file, by its name, that was edited by hand: its bytes when the step was made, those now, and those to go to.
Merge = Callable[[str, "bytes | None", "bytes | None", "bytes | None"], "bytes | None"]


def refuse_edits(path: str, *_: bytes | None) -> bytes | None:
    """Merge nothing: a file that was edited since is refused."""
    raise ConflictError(Problem("was changed since; nothing was taken back", file=path))


class UndoStep(NamedTuple):
    """One command's change: the bytes of its files before and after, by their paths below the root.

    ``before`` has None for a file that the command created, ``after`` for one that it removed.
    """

    file: Path
    root: str
    title: str
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]

    def path(self, name: str) -> str:
        """Return the absolute path of a file."""
        return os.path.join(self.root, name)

    def touches(self, *directories: Path) -> bool:
        """Whether any of the files lies in one of the directories or below it."""
        places = [os.path.realpath(directory) for directory in directories]
        return any(paths.is_inside(self.path(name), place) for name in self.before for place in places)

    def happened(self, tree: Tree) -> bool:
        """Whether there is something to undo; a pending step was made if one of its files is as it would leave it."""
        now = {name: content(tree, name) for name in self.before}
        if self.file.suffix == f".{_PENDING}":
            return any(now[name] == data != self.before[name] for name, data in self.after.items())
        return any(now[name] != data for name, data in self.before.items())  # otherwise the user undid it by hand

    def reversed(self) -> UndoStep:
        """Return the step that does again what undoing this one took back."""
        return self._replace(before=self.after, after=self.before)

    def taken_back(self, tree: Tree, merge: Merge) -> dict[str, bytes | None]:
        """Return the files as they were before; what was edited since is merged, or raises `ConflictError`."""
        files: dict[str, bytes | None] = {}
        problems: list[Problem] = []
        for name, data in self.before.items():
            now = content(tree, name)
            try:
                files[name] = data if now == self.after[name] else merge(self.path(name), self.after[name], now, data)
            except ConflictError as error:
                problems += error.problems
        if problems:
            raise ConflictError(*problems)
        return files


class History(NamedTuple):
    """The steps in a folder, which is created with the first one.

    ``tell`` gets a message about each step that cannot be read, and is ignored.
    """

    folder: Path
    tell: Callable[[str], object] = lambda _: None

    def record(
        self,
        root_dir: Path,
        title: str,
        before: Mapping[Path, bytes | None],
        after: Mapping[Path, bytes | None],
    ) -> Recording:
        """Record a change that is about to be made, of files by their real paths; it stays once the change is made."""
        root = os.path.realpath(root_dir)
        if not all(paths.is_inside(str(file), root) for file in before):  # links lead to other folders of its bundle
            root = paths.root_of(root)
        files = {
            str(file).removeprefix(root).lstrip("/"): {"before": _to_text(data), "after": _to_text(after[file])}
            for file, data in before.items()
        }
        text = json.dumps({"root": root, "title": title, "files": files}).encode()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sizes = self._sizes()
            self._forget_undone({str(file) for file in before}, sizes)
            pending = self._create(text, after=max((_number(file) for file in sizes), default=0))
            self._prune(sizes, len(text))
        except OSError as error:
            raise UnavailableError(
                Problem(f"no history could be kept: {error.strerror or error}", file=str(self.folder))
            ) from error
        return Recording(pending)

    def done(self, directory: Path, *also: Path) -> Iterator[UndoStep]:
        """Yield the steps below one of the directories that were made and are not undone yet, the newest first."""
        for step in self._steps(_DONE, _PENDING):
            if step.touches(directory, *also) and step.happened(Tree(Path(step.root))):
                yield step

    def last(self, directory: Path, *also: Path) -> UndoStep:
        """Return the newest step below one of the directories that was made and is not undone yet."""
        for step in self.done(directory, *also):
            return step
        hint = "what `packyard set`, `enable`, `upgrade`, `lint --fix` and `cfg` change can be undone"
        raise InputError(Problem("nothing to undo", file=os.path.realpath(directory), hint=hint))

    def undo(self, directory: Path, *also: Path, merge: Merge = refuse_edits) -> UndoStep:
        """Undo the newest step below one of the directories, and return it; `redo` does it again.

        Edits by hand stay where ``merge`` can keep them; otherwise `ConflictError` is raised, and nothing changes.
        """
        return self._take_back(self.last, (directory, *also), merge, _UNDONE)

    def undone(self, directory: Path, *also: Path) -> UndoStep:
        """Return the step below one of the directories that was undone last."""
        for step in reversed([*self._steps(_UNDONE)]):
            if step.touches(directory, *also):
                return step.reversed()
        hint = "packyard undo --redo does again what packyard undo took back, until something else is changed"
        raise InputError(Problem("nothing to redo", file=os.path.realpath(directory), hint=hint))

    def redo(self, directory: Path, *also: Path, merge: Merge = refuse_edits) -> UndoStep:
        """Do again what `undo` took back last below one of the directories, and return it as a step back."""
        return self._take_back(self.undone, (directory, *also), merge, _DONE)

    def _take_back(
        self, find: Callable[..., UndoStep], directories: Sequence[Path], merge: Merge, state: str
    ) -> UndoStep:
        with Tree(directories[0]).locked():  # finishes an interrupted change first
            pass
        step = find(*directories)
        tree = Tree(Path(step.root))
        with tree.locked():
            tree.write(step.taken_back(tree, merge))
            with suppress(OSError):  # then `happened` finds it undone
                os.rename(step.file, step.file.with_suffix(f".{state}"))
        return step

    def _forget_undone(self, files: Collection[str], sizes: dict[Path, int]) -> None:
        """Delete the steps that cannot be done again, as their files are changed otherwise now, also from ``sizes``."""
        for step in self._read(sizes, _UNDONE):
            if not {step.path(name) for name in step.before}.isdisjoint(files):
                step.file.unlink(missing_ok=True)
                del sizes[step.file]

    def _create(self, text: bytes, *, after: int) -> Path:
        number = after
        while True:
            number += 1
            file = self.folder / f"{number:08}.{_PENDING}"
            if any(file.with_suffix(f".{state}").exists() for state in (_DONE, _UNDONE)):
                continue
            with suppress(FileExistsError):
                os.close(atomic.create(str(file), (text,)))
                return file

    def _prune(self, sizes: Mapping[Path, int], newest: int) -> None:
        """Delete the oldest steps, so that the others and the newest stay within the limits."""
        together = newest
        for place, (file, size) in enumerate(sorted(sizes.items(), key=lambda item: _number(item[0]), reverse=True), 1):
            together += size
            if place >= KEPT or together > KEPT_BYTES:
                file.unlink(missing_ok=True)

    def _sizes(self) -> dict[Path, int]:
        """Return the size of each step's file."""
        sizes = {}
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:  # the folder may be missing
            for entry in entries:
                stem, _, suffix = entry.name.partition(".")
                if suffix in (_DONE, _PENDING, _UNDONE) and stem.isdecimal() and stem.isascii():
                    with suppress(FileNotFoundError):  # pruned by another command
                        sizes[self.folder / entry.name] = entry.stat(follow_symlinks=False).st_size
        return sizes

    def _steps(self, *states: str) -> Iterator[UndoStep]:
        """Yield the steps of some states, the newest first."""
        try:
            sizes = self._sizes()
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=str(self.folder))) from error
        yield from self._read(sizes, *states)

    def _read(self, files: Collection[Path], *states: str) -> Iterator[UndoStep]:
        for file in sorted((file for file in files if file.suffix[1:] in states), key=_number, reverse=True):
            if not os.path.lexists(file):  # pruned by another command
                continue
            try:
                yield _parse(file, json.loads(regular.read(file, limit=2 * KEPT_BYTES)))
            except (InputError, ValueError, RecursionError):  # truncated by a kill, or not ours
                self.tell(f"{file}: is not an entry of packyard's history; ignored")


class Recording:
    """A pending step while its change is made: it is kept if the change was made, or may have been made."""

    __slots__ = ("_file",)

    def __init__(self, pending: Path) -> None:
        self._file = pending

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(OSError):  # then `UndoStep.happened` finds out
            if kind is None:
                os.rename(self._file, self._file.with_suffix(f".{_DONE}"))
            elif not issubclass(kind, (UnfinishedError, KeyboardInterrupt)):
                self._file.unlink()


def _number(file: Path) -> int:
    return int(file.stem[:18])


def _parse(file: Path, document: object) -> UndoStep:
    """Read a step, or raise `ValueError` where the document has another form."""
    if not isinstance(document, dict):
        raise ValueError
    root, title, files = (document.get(key) for key in ("root", "title", "files"))
    if not (isinstance(root, str) and root.startswith("/") and isinstance(title, str) and isinstance(files, dict)):
        raise ValueError
    os.fsencode(root + title + "".join(files))
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for path, item in files.items():
        name = path.removeprefix(os.path.join(root, ""))
        if "\0" in root + name or name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
            raise ValueError
        if not isinstance(item, dict) or not item.keys() >= {"before", "after"}:
            raise ValueError
        before[name], after[name] = _to_bytes(item["before"]), _to_bytes(item["after"])
    return UndoStep(file, root, title, before, after)


def content(tree: Tree, name: str) -> bytes | None:
    """Return a file's bytes, or None where there is no file."""
    return tree.read(name) if tree.has(name) else None


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _to_bytes(text: object) -> bytes | None:
    if text is None or isinstance(text, str):
        return None if text is None else text.encode("utf-8", "surrogateescape")
    raise ValueError
