"""The digest of the code that makes results: another packyard, library or Python may make other ones."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from packyard import __version__
from packyard.core.digest import Digest

_CARRIED = "catalogue"  # sources that an installation carries, which are read as such
_CACHED = "__pycache__"


@cache
def digest(libraries: tuple[str, ...]) -> Digest:
    """Digest packyard's own files, by their bytes, and those of libraries, by their sizes and times.

    An editable installation changes without a new version; what an installer wrote changes with its times. What a
    process runs is what it began with, so it is digested once.
    """
    own = Path(__file__).resolve().parents[1]
    lines = [__version__, sys.version, zlib.ZLIB_RUNTIME_VERSION]
    lines += [f"{file.relative_to(own)} {Digest.of(file.read_bytes())}" for file in _files(own)]
    for library in libraries:
        spec = find_spec(library)
        folder = Path(spec.origin).parent if spec and spec.origin else own
        states = [(file, file.stat()) for file in _files(folder)]
        lines += [f"{file} {state.st_size} {state.st_mtime_ns}" for file, state in states]
    return Digest.of("\n".join(lines).encode())


def _files(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (_CACHED, _CARRIED))
        yield from (Path(path, name) for name in sorted(names))
