"""What a word of `packyard diff` stands for: packages in memory, from a folder, a file or a channel."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from packyard.cli import bundles, preferences, untarred
from packyard.core.bundle import address, manifest, reference
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, PackyardError, Problem
from packyard.core.files.paths import RECEIPT, WORKSPACE
from packyard.core.files.tree import Tree
from packyard.using.upgrade.difference import Files

Packages = dict[str, Files]
_SOURCES = ("package.yaml", WORKSPACE)
#: How the files of packyard itself begin in a package.
_OURS = (".packyard-", RECEIPT)


def read(word: str, channel: str | None) -> Packages:
    """Return the packages that a word names: a folder, a file, or NAME@VERSION[/USECASE]."""
    path = Path(word)
    if path.is_dir():
        return _folder(path)
    if path.exists():
        bundle = bundles.read(path)
    elif "/" in word and "@" not in word.partition("/")[0]:
        raise InputError(Problem("no such file or folder", file=word))
    elif reference.is_version(word):
        raise InputError(Problem(f"{word} is a version", hint=f"name its package, too: NAME@{word}"))
    else:
        bundle = bundles.find(Reference.parse(word.partition("/")[0]), preferences.source(channel))
    return {bundle.name: bundle.files}


def use_case(word: str, packages: Packages) -> str:
    """Return the path of the use case that NAME@VERSION/USECASE names; nothing where none is named."""
    name, _, wanted = word.partition("/")
    if not wanted or Path(word).exists():
        return ""
    ((_, members),) = packages.items()
    return address.only(Manifest.parse(members[manifest.FILE]).deployed(), wanted, name, name)


def _folder(folder: Path) -> Packages:
    """Return the package in a folder, or those in the folders below, which `packyard build` leaves there."""
    if (folder / manifest.FILE).is_file():
        return {folder.resolve().name: files(folder)}
    if any((folder / name).is_file() for name in _SOURCES):
        hint = "packyard build --version 0 --to OUT builds it, and packyard diff compares what is in OUT"
        raise InputError(Problem("has sources, and no package that is built", file=str(folder), hint=hint))
    built = {file.parent.name: files(file.parent) for file in sorted(folder.glob(f"*/{manifest.FILE}"))}
    return built or {folder.resolve().name: files(folder)}


def files(folder: Path) -> Files:
    """Return the files of an untarred package, without what packyard keeps there.

    Those that packyard.json lists are never left out.
    """
    tree, by_path, size, listed = Tree(folder), dict[str, bytes](), 0, _listed(folder)
    for place, folders, names in tree.walk():
        start = f"{place}/" if place else ""
        folders[:] = [
            name for name in folders if name[0] != "." or any(path.startswith(f"{start}{name}/") for path in listed)
        ]
        for path in [start + name for name in names if start + name in listed or not name.startswith(_OURS)]:
            by_path[path] = tree.read(path)
            size += len(by_path[path])
            if len(by_path) > LIMITS.entries or size > LIMITS.total_size:
                hint = "name the folder of one package, or of a library"
                raise InputError(Problem("is too large for a package", file=str(folder), hint=hint))
    return by_path


def _listed(folder: Path) -> Collection[str]:
    """Return the paths that the packyard.json of a folder lists, if it has one that can be read."""
    try:
        return untarred.read(folder).described.files
    except PackyardError:
        return ()
