"""Libraries that were fetched, unpacked for the next command: ``<folder>/<hex digits of the digest of the tar>/NAME/``.

The folder may be deleted at any moment, and anybody may have written there: what is found is verified again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packyard.core.bundle import archive
from packyard.core.bundle.archive import Member
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, PackyardError, Problem, UnavailableError
from packyard.writing.source import library


@dataclass(frozen=True, slots=True)
class Shelf:
    """The libraries in ``folder``, which is made with the first."""

    folder: Path

    def find(self, name: str, tar: Digest) -> Path | None:
        """Return the folder of a library, verified; what is damaged goes."""
        folder = self.folder / tar.hex / name
        with suppress(PackyardError, OSError):
            if folder.is_dir() and library.digest(name, folder) == tar:
                return folder
        shutil.rmtree(folder, ignore_errors=True)
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
