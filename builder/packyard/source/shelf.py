"""Libraries that were fetched, unpacked for the next command: ``<folder>/<hex digits of the digest of the tar>/NAME/``.

The folder may be deleted at any moment, and anybody may have written there: what is found is verified again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packyard.bundle import archive
from packyard.bundle.archive import Member
from packyard.digest import Digest
from packyard.errors import ConflictError, PackyardError, Problem, UnavailableError
from packyard.source import library


@dataclass(frozen=True, slots=True)
class Shelf:
    """The libraries in ``folder``, which is made with the first."""

    folder: Path

    def find(self, name: str, tar: Digest) -> Path | None:
        """Return the folder of a library, verified; what is damaged goes."""
        found = self.folder / tar.hex / name
        with suppress(PackyardError, OSError):
            if found.is_dir() and library.digest(name, found) == tar:
                return found
        shutil.rmtree(found, ignore_errors=True)
        return None

    def put(self, name: str, members: Iterable[Member]) -> tuple[Path, Digest]:
        """Unpack a library, unless it is there; return its folder and the digest of its tar."""
        files = list(members)
        tar = Digest.of(archive.pack(name, files))
        folder = self.find(name, tar)
        if folder is None:
            into = self.folder / tar.hex
            try:
                into.mkdir(mode=0o755, parents=True, exist_ok=True)
            except OSError as error:
                hint = "another XDG_CACHE_HOME may be elsewhere"
                raise UnavailableError(Problem(error.strerror or str(error), file=str(into), hint=hint)) from error
            with suppress(ConflictError):  # somebody else was quicker
                archive.write(name, files, into)
            folder = into / name
        return folder, tar

    @property
    def limit(self) -> int:
        """The bytes that are kept at most: there is no limit."""
        return 0

    def sizes(self) -> list[int]:
        """Return the size of each file."""
        return [file.lstat().st_size for file in self.folder.glob("*/**/*") if file.is_file()]

    def clear(self) -> None:
        """Delete all libraries."""
        shutil.rmtree(self.folder, ignore_errors=True)
