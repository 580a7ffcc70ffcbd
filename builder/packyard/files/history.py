"""What commands changed, kept so that it can be taken back: the bytes of every file before and after.

The history lies in a folder of the user's, not in the packages, so it is neither packed nor built. Entries are numbered
files; the newest are kept, at most a hundred and 256 MiB together, but the last one whatever its size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.files import journal
from packyard.files.paths import real_paths

KEPT = 100
KEPT_BYTES = 256 << 20


class Entry:
    """One command's change: the files that it wrote, by absolute path.

    Before is None for one that it made, after for one that it removed.
    """

    __slots__ = ("after", "before", "number", "root_dir", "title")

    def __init__(
        self,
        number: int,
        root_dir: Path,
        title: str,
        before: Mapping[Path, bytes | None],
        after: Mapping[Path, bytes | None],
    ) -> None:
        self.number = number
        self.root_dir = root_dir
        self.title = title
        self.before = before
        self.after = after

    def touches(self, directory: Path) -> bool:
        """Whether any of the files lies in a directory or below it."""
        return any(file.is_relative_to(directory) for file in self.before)

    def check_unchanged(self) -> None:
        """Raise `ConflictError` with every file that is not as this change left it."""
        problems = [
            Problem("was changed since; nothing was taken back", file=str(file))
            for file, data in self.after.items()
            if _read(file) != data
        ]
        if problems:
            raise ConflictError(*problems)


class History:
    """The entries in a folder, which is made when the first is recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(
        self, root_dir: Path, title: str, before: Mapping[Path, bytes | None], after: Mapping[Path, bytes | None]
    ) -> None:
        """Keep a change that is about to be made; one that is never made is passed over by `undo`."""
        files = {
            file: {"before": _to_text(data), "after": _to_text(after[name])}
            for file, (name, data) in zip(real_paths(before), before.items(), strict=True)
        }
        document = {"root": str(root_dir.resolve()), "title": title, "files": files}
        text = json.dumps(document).encode()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sizes = self._sizes()
            self._create(text, after=max(sizes, default=0))
            self._prune(sizes, len(text))
        except OSError as error:
            raise UnavailableError(f"{self.folder}: no history could be kept: {error.strerror}") from error

    def last(self, directory: Path) -> Entry:
        """Return the newest change below a directory that was made and not taken back."""
        directory = directory.resolve()
        for entry in self._entries():
            if entry.touches(directory):
                if any(_read(file) != data for file, data in entry.before.items()):
                    return entry
                self._file(entry.number).unlink(missing_ok=True)  # never made, or undone by hand
        hint = "what `packyard set`, `enable`, `disable` and `cfg` change can be undone"
        raise InputError(Problem("nothing to undo", file=str(directory), hint=hint))

    def undo(self, directory: Path) -> Entry:
        """Take the newest change below a directory back, and return it.

        A file that was changed since is a `ConflictError`, and then nothing is taken back.
        """
        entry = self.last(directory)
        with journal.locked(entry.root_dir, {file.parent for file in entry.before}):
            entry.check_unchanged()
            _restore(entry)
            self._file(entry.number).unlink(missing_ok=True)
        return entry

    def _create(self, text: bytes, *, after: int) -> None:
        number = after
        while True:
            number += 1
            try:
                handle = os.open(self._file(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            with os.fdopen(handle, "wb") as stream:
                stream.write(text)
            return

    def _prune(self, sizes: Mapping[int, int], newest: int) -> None:
        """Take the oldest entries away, so that those that stay keep the bounds together with the newest."""
        together = newest
        for place, (number, size) in enumerate(sorted(sizes.items(), reverse=True), 1):
            together += size
            if place >= KEPT or together > KEPT_BYTES:
                self._file(number).unlink(missing_ok=True)

    def _sizes(self) -> dict[int, int]:
        """Return the size of each entry by its number."""
        sizes = {}
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:  # the folder may be missing
            for entry in entries:
                stem, _, suffix = entry.name.partition(".")
                if suffix == "json" and stem.isdigit():
                    with suppress(FileNotFoundError):  # pruned by another command
                        sizes[int(stem)] = entry.stat().st_size
        return sizes

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:08}.json"

    def _entries(self) -> Iterator[Entry]:
        for number in sorted(self._sizes(), reverse=True):
            try:
                document = json.loads(self._file(number).read_bytes())
            except (OSError, ValueError):  # pruned by another command, or cut short by a kill
                continue
            files = document["files"]
            yield Entry(
                number,
                Path(document["root"]),
                document["title"],
                {Path(file): _to_bytes(item["before"]) for file, item in files.items()},
                {Path(file): _to_bytes(item["after"]) for file, item in files.items()},
            )


def _restore(entry: Entry) -> None:
    """Give files their earlier bytes, and remove those that were made: all or none."""
    journal.write(entry.root_dir, entry.before)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")
