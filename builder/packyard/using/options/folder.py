"""Where a use case's options are: the folder `options/` above it, inside its package.

    resnet50/packyard.json
    resnet50/quickstart/mlops/options/queue/kustomization.yaml                    the option queue
    resnet50/quickstart/mlops/multi-node/user-mounted-nfs/kustomization.yaml      - ../../options/queue

Without a packyard.json the package ends with the folder that holds `options/`. A link is not an option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path

from packyard.core.errors import InputError, Problem
from packyard.core.files import filenames, paths, regular
from packyard.core.kubernetes import kustomization

NAME = "options"
#: The folder beside it of the programs that use cases share: Components, too.
PROGRAMS = "programs"

_LONGEST = 1 << 20  # bytes of an option's kustomization
_WITH = "# packyard: with "

_HIGHEST = 8  # folders above a use case that are looked at where no packyard.json says which package it is of


class Folder:
    """The options of a package, as a use case sees them.

    ``real`` is the folder's real path, ``package`` that of the package; ``shown`` leads there from the working
    directory, ``line`` from the use case.
    """

    __slots__ = ("_read", "line", "package", "real", "shown", "use_case")

    def __init__(self, directory: Path, real: str, package: str) -> None:
        self.use_case = os.path.realpath(directory)
        self.real = real
        self.package = package
        self.line = os.path.relpath(real, self.use_case)
        self.shown = os.path.normpath(os.path.join(directory, self.line))
        self._read: dict[str, bytes] = {}

    def names(self) -> list[str]:
        """Return the names of the options that are there."""
        folders = (entry for entry in os.scandir(self.real) if entry.is_dir(follow_symlinks=False))
        return sorted(entry.name for entry in folders if not filenames.reserved(entry.name) and _holds(entry.path))

    def name_of(self, component: str) -> str:
        """Return the name of the option that a line of `components` stands for; an empty text for another component."""
        if component.startswith("/") or "\0" in component:
            return ""
        path = os.path.normpath(os.path.join(self.use_case, component))
        above, name = os.path.split(path)
        return name if above == self.real else ""

    def beside(self, name: str) -> list[str]:
        """Return the files of the use case that an option needs: ``# packyard: with resource-claim-template.yaml``."""
        if not os.path.isfile(self.file(name)):  # an upgrade enables what another version has
            return []
        return [file for file in needed(self.data(name)) if os.path.isfile(f"{self.use_case}/{file}")]

    def data(self, name: str) -> bytes:
        """Return the bytes of an option's kustomization, which is read once."""
        if name not in self._read:
            self._read[name] = regular.read(self.file(name), limit=_LONGEST)
        return self._read[name]

    def file(self, name: str) -> str:
        """Return the path of an option's kustomization, as it is shown."""
        files = kustomization.there(f"{self.real}/{name}")
        return os.path.join(self.shown, name, files[0] if files else kustomization.FILE)


def names(directory: Path) -> list[str]:
    """Return the names of a use case's options."""
    folder = find(directory)
    return folder.names() if folder else []


def find(directory: Path) -> Folder | None:
    """Find the options of a use case; None where its package has none."""
    here = os.path.realpath(directory)
    package = paths.root_of(here)
    is_known = package != here or os.path.lexists(f"{here}/{paths.MANIFEST}")
    above = here
    for height, folder in enumerate(paths.above(here)):
        if is_known and not paths.is_inside(folder, package):
            break
        if not is_known and height == _HIGHEST:
            break
        above = folder
        options = f"{folder}/{NAME}"
        if is_known and os.path.islink(options):
            raise InputError(
                Problem(f"is a link to {os.path.realpath(options)}; a package must not contain links", file=options)
            )
        if not os.path.islink(options) and os.path.isdir(options):
            options_folder = Folder(directory, options, package if is_known else above)
            if options_folder.names():
                return options_folder
    return None


def use_cases(top: str | os.PathLike[str]) -> Iterator[str]:
    """Yield every folder with a kustomization, from the top on, but no option or program, and no hidden folder."""
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name != NAME and not name.startswith("."))
        names = kustomization.names(files.__contains__)
        if names and not _is_program(folder, names[0]):
            yield folder


def package_of(directory: Path) -> str:
    """Return the real folder that a use case's components must be in."""
    options, root = find(directory), paths.root_of(directory)
    if options or os.path.lexists(f"{root}/{paths.MANIFEST}"):
        return options.package if options else root
    above = islice(paths.above(os.path.realpath(directory)), _HIGHEST)
    return next((folder for folder in above if os.path.isdir(f"{folder}/{PROGRAMS}")), root)


def has_components(directory: Path) -> bool:
    """Say whether a use case's kustomization may have components, by a search before a parse."""
    files = kustomization.there(directory)
    return bool(files) and b"components" in regular.read(directory / files[0])


def _is_program(folder: str, name: str) -> bool:
    """Say whether a folder of ``programs`` holds a Component, which nobody builds by itself."""
    file = Path(folder, name)
    above = os.path.basename(os.path.dirname(os.path.abspath(folder)))
    return above == PROGRAMS and regular.is_file(file) and b"kind: Component" in regular.read(file)


def _holds(folder: str) -> bool:
    return not all(os.path.islink(f"{folder}/{name}") for name in kustomization.there(folder))


def needed(data: bytes) -> list[str]:
    """Return the files of a use case that an option says to need in its kustomization."""
    lines = data.decode("utf-8", "replace").splitlines()
    files = [line.removeprefix(_WITH) for line in lines if line.startswith(_WITH)]
    return [file for file in files if "/" not in file]


def description(data: bytes) -> str:
    """Return the first sentence of the comment that an option's kustomization begins with."""
    lines = takewhile(lambda line: line.startswith("#"), data.decode("utf-8", "replace").splitlines())
    first, end, _ = " ".join(line.removeprefix("#").strip() for line in lines).partition(". ")
    return first + end.strip()
