"""What a word of `packyard diff` stands for: packages in memory, from a folder, a file or a channel."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from packyard.cli import bundles, fanout, libraries, preferences, progress, untarred
from packyard.core.bundle import address, archive, manifest
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, PackyardError, Problem
from packyard.core.files.paths import RECEIPT, WORKSPACE, is_rendered
from packyard.core.files.tree import Tree
from packyard.core.work import executor
from packyard.using.upgrade.difference import Files
from packyard.writing.build.draft import compose_draft
from packyard.writing.source import library, package, workspace
from packyard.writing.source.workspace import Workspace

#: The version of packages that are composed to be compared.
_VERSION = "0"
Packages = dict[str, Files]


def read(word: str, arguments: argparse.Namespace) -> Packages:
    """Return the packages that a word names: a folder, a file, or NAME@VERSION[/USECASE]."""
    path = Path(word)
    if path.is_dir():
        return _folder(path, arguments)
    if path.exists():
        bundle = bundles.read(path)
    elif "/" in word and "@" not in word.partition("/")[0]:
        raise InputError(Problem("no such file or folder", file=word))
    else:
        bundle = bundles.find(Reference.parse(word.partition("/")[0]), preferences.source(arguments.channel))
    return {bundle.name: files_of(bundle.members)}


def use_case(word: str, packages: Packages) -> str:
    """Return the path of the use case that NAME@VERSION/USECASE names; nothing where none is named."""
    name, _, wanted = word.partition("/")
    if not wanted or Path(word).exists():
        return ""
    ((_, members),) = packages.items()
    return address.only(Manifest.parse(members[manifest.FILE]).deployed(), wanted, name, name)


def _folder(folder: Path, arguments: argparse.Namespace) -> Packages:
    """Return one package of a workspace, or all and the library that it is, or the folder as it is: untarred."""
    if (folder / package.FILE).is_file() and (around := workspace.find_root(folder)):
        return _composed(libraries.read(around), [folder.resolve().name], arguments)
    if (folder / WORKSPACE).is_file():
        here = libraries.read(folder)
        own = {here.name: files_of(library.members(here.sources))} if here.is_library else {}
        return {**_composed(here, here.package_names(), arguments), **own}
    return {folder.resolve().name: files(folder)}


def _composed(here: Workspace, names: Sequence[str], arguments: argparse.Namespace) -> Packages:
    with progress.of(names) as done:
        drafts = executor.run(
            partial(compose_draft, here, _VERSION), names, jobs=fanout.jobs(arguments, names), done=done
        )
    return {draft.name: files_of(draft.bundle().members) for draft in drafts}


def files(folder: Path) -> Files:
    """Return the files of an untarred package, without what packyard keeps or has rendered there.

    Those that packyard.json lists are never left out.
    """
    tree, by_path, size, listed = Tree(folder), dict[str, bytes](), 0, _listed(folder)
    for place, folders, names in tree.walk():
        if is_rendered(place, names, listed):
            folders.clear()
            continue
        start = f"{place}/" if place else ""
        folders[:] = [
            name for name in folders if name[0] != "." or any(path.startswith(f"{start}{name}/") for path in listed)
        ]
        for path in [start + name for name in names if start + name in listed or not _is_ours(name)]:
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


def _is_ours(name: str) -> bool:
    return name.startswith(".packyard-") or name == RECEIPT


def files_of(members: Sequence[archive.Member]) -> Files:
    """Return files by their paths."""
    return {member.path: member.data for member in members}
