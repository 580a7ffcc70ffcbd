"""What commands changed, kept so that it can be taken back: the bytes of every file before and after.

The history lies in a folder of the user's, not in the packages, so it is neither packed nor built. Entries are numbered
files; the newest are kept, at most a hundred and 256 MiB together, but the last one whatever its size. One is pending
until what it tells of has been done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.files import atomic, paths, regular
from packyard.files.replace import UnfinishedError
from packyard.files.tree import Tree

KEPT = 100
KEPT_BYTES = 256 << 20
_DONE, _PENDING = "json", "pending"


class UndoStep:
    """One command's change: the files that it wrote, by their paths below the root.

    Before is None for one that it made, after for one that it removed.
    """

    __slots__ = ("after", "before", "file", "root", "title")

    def __init__(
        self,
        file: Path,
        root: str,
        title: str,
        before: Mapping[str, bytes | None],
        after: Mapping[str, bytes | None],
    ) -> None:
        self.file = file
        self.root = root
        self.title = title
        self.before = before
        self.after = after

    def path(self, name: str) -> str:
        """Return where a file is."""
        return os.path.join(self.root, name)

    def touches(self, directory: str) -> bool:
        """Whether any of the files lies in a directory or below it."""
        return any(paths.is_inside(self.path(name), directory) for name in self.before)

    def happened(self, tree: Tree) -> bool:
        """Whether this can be taken back: one that was not seen to be made was, if a file is as it left it."""
        now = {name: _content(tree, name) for name in self.before}
        if self.file.suffix == f".{_PENDING}":
            return any(now[name] == data != self.before[name] for name, data in self.after.items())
        return any(now[name] != data for name, data in self.before.items())  # else it was undone by hand

    def check_unchanged(self, tree: Tree) -> None:
        """Raise `ConflictError` with every file that is not as this change left it."""
        problems = [
            Problem("was changed since; nothing was taken back", file=self.path(name))
            for name, data in self.after.items()
            if _content(tree, name) != data
        ]
        if problems:
            raise ConflictError(*problems)


class History:
    """The entries in a folder, which is made when the first is recorded.

    ``tell`` gets a sentence about each entry that is passed over, as nobody can read it.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object] = lambda _: None) -> None:
        self.folder = folder
        self.tell = tell

    def record(
        self,
        root_dir: Path,
        title: str,
        before: Mapping[Path, bytes | None],
        after: Mapping[Path, bytes | None],
    ) -> Recording:
        """Keep a change that is about to be made, of files by their real paths; it is kept for good once it is."""
        root = os.path.realpath(root_dir)
        if not all(paths.is_inside(str(file), root) for file in before):  # by links, in its bundle
            root = paths.root_of(root)
        files = {
            str(file).removeprefix(root).lstrip("/"): {"before": _to_text(data), "after": _to_text(after[file])}
            for file, data in before.items()
        }
        text = json.dumps({"root": root, "title": title, "files": files}).encode()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sizes = self._sizes()
            pending = self._create(text, after=max((_number(file) for file in sizes), default=0))
            self._prune(sizes, len(text))
        except OSError as error:
            raise UnavailableError(
                Problem(f"no history could be kept: {error.strerror or error}", file=str(self.folder))
            ) from error
        return Recording(pending)

    def last(self, directory: Path, *also: Path) -> UndoStep:
        """Return the newest change below a directory, or below others, that was made and not taken back."""
        here = os.path.realpath(directory)
        places = [here, *map(os.path.realpath, also)]
        for entry in self._entries():
            if any(map(entry.touches, places)) and entry.happened(Tree(Path(entry.root))):
                return entry
        hint = "what `packyard set`, `enable`, `disable` and `cfg` change can be undone"
        raise InputError(Problem("nothing to undo", file=here, hint=hint))

    def undo(self, directory: Path, *also: Path) -> UndoStep:
        """Take the newest change below a directory, or below others, back, and return it.

        A file that was changed since is a `ConflictError`, and then nothing is taken back.
        """
        with Tree(directory).locked():  # what was interrupted is finished first
            pass
        entry = self.last(directory, *also)
        tree = Tree(Path(entry.root))
        with tree.locked():
            entry.check_unchanged(tree)
            tree.write(entry.before)
            with suppress(OSError):  # then it is found to be undone
                entry.file.unlink()
        return entry

    def _create(self, text: bytes, *, after: int) -> Path:
        number = after
        while True:
            number += 1
            file = self.folder / f"{number:08}.{_PENDING}"
            if file.with_suffix(f".{_DONE}").exists():
                continue
            with suppress(FileExistsError):
                os.close(atomic.create(str(file), text))
                return file

    def _prune(self, sizes: Mapping[Path, int], newest: int) -> None:
        """Take the oldest entries away, so that those that stay keep the bounds together with the newest."""
        together = newest
        for place, (file, size) in enumerate(sorted(sizes.items(), key=lambda item: _number(item[0]), reverse=True), 1):
            together += size
            if place >= KEPT or together > KEPT_BYTES:
                file.unlink(missing_ok=True)

    def _sizes(self) -> dict[Path, int]:
        """Return the size of each entry."""
        sizes = {}
        with suppress(FileNotFoundError), os.scandir(self.folder) as found:  # the folder may be missing
            for entry in found:
                stem, _, suffix = entry.name.partition(".")
                if suffix in (_DONE, _PENDING) and stem.isdecimal() and stem.isascii():
                    with suppress(FileNotFoundError):  # pruned by another command
                        sizes[self.folder / entry.name] = entry.stat(follow_symlinks=False).st_size
        return sizes

    def _entries(self) -> Iterator[UndoStep]:
        try:
            files = sorted(self._sizes(), key=_number, reverse=True)
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=str(self.folder))) from error
        for file in files:
            if not os.path.lexists(file):  # pruned by another command
                continue
            try:
                yield _parse(file, json.loads(regular.read(file, limit=2 * KEPT_BYTES)))
            except (InputError, ValueError, RecursionError):  # cut short by a kill, or none of ours
                self.tell(f"{file}: is no entry of packyard's history, and is passed over")


class Recording:
    """An entry of the history while what it tells of is done: it stays if that was, or if nobody can tell."""

    __slots__ = ("_file",)

    def __init__(self, pending: Path) -> None:
        self._file = pending

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(OSError):  # then `UndoStep.happened` finds it out
            if kind is None:
                self._file.rename(self._file.with_suffix(f".{_DONE}"))
            elif not issubclass(kind, (UnfinishedError, KeyboardInterrupt)):
                self._file.unlink()


def _number(file: Path) -> int:
    return int(file.stem[:18])


def _parse(file: Path, document: object) -> UndoStep:
    """Check the form of an entry; a `ValueError` says that it has another one."""
    if not isinstance(document, dict):
        raise ValueError
    root, title, files = (document.get(key) for key in ("root", "title", "files"))
    if not (isinstance(root, str) and root.startswith("/") and isinstance(title, str) and isinstance(files, dict)):
        raise ValueError
    os.fsencode(root + title + "".join(files))
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for given, item in files.items():
        name = given.removeprefix(os.path.join(root, ""))
        if "\0" in root + name or name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
            raise ValueError
        if not isinstance(item, dict) or not item.keys() >= {"before", "after"}:
            raise ValueError
        before[name], after[name] = _to_bytes(item["before"]), _to_bytes(item["after"])
    return UndoStep(file, root, title, before, after)


def _content(tree: Tree, name: str) -> bytes | None:
    """Return a file's bytes; None where there is none."""
    return tree.read(name) if tree.has(name) else None


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _to_bytes(text: object) -> bytes | None:
    if text is None or isinstance(text, str):
        return None if text is None else text.encode("utf-8", "surrogateescape")
    raise ValueError
