"""What is imported: a folder, or a tarball, which is unpacked where nobody looks, after all of it was checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from packyard.core.bundle import archive
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError

_GZIP = b"\x1f\x8b"  # how such data begins


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder that a path is, or that its tarball holds; messages name files of a tarball below its path."""
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise InputError(Problem("no such folder or tarball", file=str(path)))
    with TemporaryDirectory(prefix="packyard-") as folder:
        try:
            yield _unpacked(path, Path(folder))
        except PackyardError as error:
            raise error.mapped(lambda problem: _named(problem, path, folder)) from error


def _unpacked(path: Path, into: Path) -> Path:
    try:
        with path.open("rb") as file:
            if file.read(len(_GZIP)) not in (_GZIP, b""):
                hint = "name the folder that it is in, or pack that as a .tar.gz"
                raise InputError(Problem("is neither a folder nor a .tar.gz", file=str(path), hint=hint))
            file.seek(0)
            members = archive.Files(archive.Expanded(file, os.fstat(file.fileno()).st_size))
            unpacked = archive.write_all("unpacked", members, into)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file=str(path))) from error
    return unpacked.rename(into / (members.top or path.name))


def _named(problem: Problem, path: Path, folder: str) -> Problem:
    """Return a problem of what was unpacked into a folder, as one of the tarball at ``path``."""
    file = Path(problem.file)
    if not file.is_relative_to(folder):
        return problem._replace(file=problem.file or str(path))
    parts = file.relative_to(folder).parts  # the first is the tarball's own folder
    return problem._replace(file=f"{path}: {'/'.join(parts[1:] or parts)}")
