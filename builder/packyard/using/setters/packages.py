"""Packages: which directories are one, which files belong to it, and these files in memory.

A directory that holds a ``Krmfile`` is a package; its resources are the ``*.yaml`` and ``*.yml`` files below it,
without those of packages further down and without what its ``.krmignore`` names. So is one that holds a Kptfile and no
Krmfile. kustomize knows no Kptfile, so that below a Krmfile only one with definitions of its own ends a package.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import source_of
from packyard.using.setters.krmfile import KRMFILE, Krmfile

if TYPE_CHECKING:
    from packyard.using.setters.definition import Setter

#: The name of kpt's file; one of its first format holds definitions as a Krmfile does.
KPTFILE = "Kptfile"
#: What a Kptfile must hold to define anything.
DEFINITIONS = b"openAPI"


class PackageFiles(NamedTuple):
    """One package directory in memory: its Krmfile, and its resource files by their path below it.

    ``where`` stands before paths in messages; it is empty, or ends in a slash. ``name`` is that of the file with the
    definitions, empty where there is none. A pipeline of kpt reaches the files of packages below, too.
    """

    krmfile: bytes
    resources: Mapping[str, bytes]
    where: str = ""
    name: str = KRMFILE

    @property
    def is_of_kustomize(self) -> bool:
        """Whether it has definitions as kustomize knows them, in a Krmfile or in a Kptfile of kpt 0.x."""
        return self.name != KPTFILE or DEFINITIONS in self.krmfile

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path below the package."""
        return {self.name: self.krmfile, **self.resources}

    def with_files(self, files: Mapping[str, bytes]) -> "PackageFiles":
        """Return the package with other bytes in some of its files."""
        return self._replace(
            krmfile=files.get(self.name, self.krmfile),
            resources={path: files.get(path, data) for path, data in self.resources.items()},
        )


def read_krmfile(package: PackageFiles) -> Krmfile:
    """Parse a package's definitions."""
    return Krmfile(source_of(package.krmfile, package.where + package.name))


def own_setters(tree: Tree) -> "Mapping[str, Setter]":
    """Return the setters of a use case, by its Krmfile alone; none where it has none, or is gone."""
    krmfile = own_krmfile(tree)
    return krmfile.definitions.setters if krmfile else {}


def own_krmfile(tree: Tree) -> Krmfile | None:
    """Return the Krmfile of a folder; None where it has none, or is gone."""
    return Krmfile(source_of(tree.read(KRMFILE), tree.prefix + KRMFILE)) if tree.has_file(KRMFILE) else None


def find_packages(tree: Tree, *, recursive: bool, kpt: bool = False) -> list[str]:
    """Return the package directories, as paths below the tree's root (an empty text is the root itself).

    Without ``recursive`` it is the root alone. With it the order is kustomize's: a directory takes its turn where the
    name ``Krmfile`` sorts among its entries, so ``Apps/`` comes before the directory that holds it, ``apps/`` after.
    With ``kpt`` a directory with a Kptfile is a package too.
    """
    if not tree.root_dir.is_dir():
        raise InputError(Problem("is not a directory", file=str(tree.root_dir)))
    paths = _find(tree, (KRMFILE, KPTFILE) if kpt else (KRMFILE,), recursive=recursive)
    if not paths:
        made = f"packyard cfg init {tree.root_dir} makes one, -R looks below"
        hint = "no directory below has one" if recursive else made
        raise InputError(Problem(f'unable to find "{KRMFILE}" in package "{tree.root_dir}"', hint=hint))
    return paths


def all_below(tree: Tree) -> list[str]:
    """Return a directory that is a package, by a Krmfile or a Kptfile, or else all packages below it."""
    marks = (KRMFILE, KPTFILE)
    return _find(tree, marks, recursive=not any(map(tree.has, marks)))


def _find(tree: Tree, marks: Sequence[str], *, recursive: bool) -> list[str]:
    if not recursive:
        return [""] if any(map(tree.has, marks)) else []
    holders = [folder for folder, folders, files in tree.walk() if any(mark in (*files, *folders) for mark in marks)]
    # As kustomize and kpt walk them: files and folders together, by name.
    return sorted(holders, key=lambda at: [os.fsencode(part) for part in f"{at}/{KRMFILE}".lstrip("/").split("/")])


def read_package(tree: Tree, package: str, where: str | None = None) -> PackageFiles:
    """Read a package's Krmfile and resource files; links to files are followed, linked folders are not entered.

    ``where`` stands before paths in messages, if not the way to the package from the working directory.
    """
    prefix = f"{package}/" if package else ""
    where = tree.prefix + prefix if where is None else where
    name = KPTFILE if tree.has(prefix + KPTFILE) and not tree.has(prefix + KRMFILE) else KRMFILE
    definitions = tree.read(prefix + name)
    below_too = name == KPTFILE and DEFINITIONS not in definitions
    return PackageFiles(definitions, read_resources(tree, package, below_too=below_too), where, name=name)


def read_resources(tree: Tree, package: str, *, below_too: bool = False) -> dict[str, bytes]:
    """Read the resource files of a directory, which need not be a package; ``below_too`` those of packages below it."""
    prefix = f"{package}/" if package else ""
    ignores = _read_ignore(tree, f"{prefix}.krmignore")
    kpt = tree.has(prefix + KPTFILE) and not tree.has(prefix + KRMFILE)
    resources: dict[str, bytes] = {}
    for folder, folders, files in tree.walk(package):
        below = "" if folder == package else folder.removeprefix(prefix) + "/"
        folders[:] = [
            name
            for name in folders
            if (below_too or not _is_package(tree, f"{prefix}{below}{name}/", kpt)) and not ignores(f"{below}{name}/")
        ]
        for name in files:
            if name.endswith((".yaml", ".yml")) and not ignores(below + name):
                resources[below + name] = tree.read(prefix + below + name)
    return resources


def _is_package(tree: Tree, prefix: str, kpt: bool) -> bool:
    """Say whether a folder below a package of kpt, or of kustomize, is a package of its own."""
    if tree.has(prefix + KRMFILE):
        return True
    if kpt:
        return tree.has(prefix + KPTFILE)
    return tree.has_file(prefix + KPTFILE) and DEFINITIONS in tree.read(prefix + KPTFILE)


def _read_ignore(tree: Tree, file: str) -> Callable[[str], bool]:
    """Return what says whether ``.krmignore`` names a file, or a folder, which ends in a ``/``.

    Its patterns have no ``**``; a leading ``/`` anchors, a trailing one means folders only.
    """
    text = tree.read(file).decode("utf-8", "replace") if tree.has_file(file) else ""
    lines = [line.strip() for line in text.splitlines()]
    patterns = [line.removeprefix("\\") for line in lines if line and not line.startswith("#")]
    exempt = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    named = [pattern for pattern in patterns if not pattern.startswith("!")]
    return lambda path: any(_matches(path, it) for it in named) and not any(_matches(path, it) for it in exempt)


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/") and not path.endswith("/"):
        return False
    parts = path.rstrip("/").split("/")
    pattern_parts = pattern.removesuffix("/").removeprefix("/").split("/")
    if not pattern.startswith("/"):
        parts = parts[-len(pattern_parts) :]
    return len(parts) == len(pattern_parts) and all(map(fnmatchcase, parts, pattern_parts))
