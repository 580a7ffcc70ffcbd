"""Move an untarred package to another version; your values, options and edits stay.

packyard upgrade DIR                   to the newest version, as `packyard get` chooses it
packyard upgrade DIR 1.3.0 --dry-run   to a version, a range such as ^1.2, or latest; print a diff
packyard upgrade DIR --base FILE       where the channel does not have the bundle that DIR came from

New defaults arrive. Where you and the new version changed the same lines, or it does not take a value of yours, nothing
is changed, and every such conflict is listed: --ours, --theirs or --markers decide. `packyard undo DIR` reverts it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from shlex import quote

from packyard.bundle import manifest
from packyard.bundle.bundle import Bundle
from packyard.bundle.manifest import Manifest
from packyard.bundle.reference import Reference, order
from packyard.cli import arguments as shared
from packyard.cli import bundles, output, state
from packyard.dataclass import replace
from packyard.errors import ConflictError, InputError, Problem
from packyard.files import paths
from packyard.files.tree import Tree
from packyard.upgrade.difference import Files
from packyard.upgrade.merge import Merged, Versions, merge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("folder", metavar="DIR", help="the top directory of an untarred package")
    parser.add_argument(
        "version", metavar="VERSION", nargs="?", default="", help="as in NAME@VERSION, or FILE.tar.gz (default: latest)"
    )
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="the channel that has both versions")
    parser.add_argument("--base", metavar="FILE", help="the bundle that DIR came from")
    decision = parser.add_mutually_exclusive_group()
    for name, what in (("ours", "yours"), ("theirs", "the new version's"), ("markers", "both, between markers")):
        keep = f"of what conflicts take {what}"
        decision.add_argument(f"--{name}", dest="decision", action="store_const", const=name, default="", help=keep)
    shared.add_dry_run(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Upgrade, and print the files that changed."""
    folder = Path(arguments.folder)
    _check_top(folder)
    base = bundles.origin(folder, arguments.channel, arguments.base)
    theirs = _theirs(base.name, arguments.version, arguments.channel)
    tree = Tree(folder)
    if arguments.dry_run:
        state.tell_pending(tree)
    with nullcontext() if arguments.dry_run else tree.locked():
        ours = dict(_read(tree, {*_files(base), *_files(theirs)}))
        merged = _merge(tree, base, ours, theirs, arguments.decision)
        if not arguments.dry_run:
            executable = [member.path for member in theirs.members if member.executable]
            title = f"upgrade {base.name} {base.version} to {theirs.version}"
            tree.write(merged.files, state.keep(folder, title), executable=executable)
    if arguments.output == "json":
        output.json_result([_document(base, theirs, ours, merged)])
    elif arguments.dry_run:
        output.diffs(folder, {path: (ours.get(path), data) for path, data in merged.files.items()})
    else:
        for row in _changes(ours, merged):
            output.line(f"{row['change']:<8} {folder / row['file']}")
    _tell(folder, base, theirs, merged)
    return 0


def _check_top(folder: Path) -> None:
    """Refuse a directory that is inside a package."""
    if not folder.is_dir():
        raise InputError(Problem("is not a directory", file=str(folder), hint="name an untarred package"))
    top = paths.root_of(folder)
    if top != os.path.realpath(folder):
        shown = os.path.relpath(top)
        hint = f"the whole package is upgraded: packyard upgrade {quote(shown)}"
        raise InputError(Problem("is inside a package", file=str(folder), hint=hint))


def _theirs(name: str, version: str, channel: str | None) -> Bundle:
    """Return the bundle to move to: of a file, or of a version as `get` chooses it."""
    if version.endswith(".tar.gz"):
        return bundles.read(Path(version))
    return bundles.find(Reference.parse(f"{name}@{version}" if version else name), channel)


def _read(tree: Tree, names: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    """Yield the files of the package that one of the versions has; others stay as they are, unread."""
    for path in sorted(names):
        if tree.has_file(path):
            yield path, tree.read(path)
        elif tree.has(path):
            raise InputError(Problem("must be a file: the package has one of this name", file=tree.prefix + path))


def _files(bundle: Bundle) -> Files:
    return {member.path: member.data for member in bundle.members}


def _merge(tree: Tree, base: Bundle, ours: Files, theirs: Bundle, decision: str) -> Merged:
    """Merge; refuse what conflicts and is not decided, or is about another package."""
    known = {*_names(tree), base.name, theirs.name}
    if len(known) > 1:
        raise InputError(Problem(f"these are different packages: {', '.join(sorted(known))}", file=str(tree.root_dir)))
    versions = Versions(
        base=_files(base),
        ours=ours,
        theirs=_files(theirs),
        root_dir=Path(tree.root),
        new=theirs.version,
    )
    merged = merge(versions, decision)
    placed = [replace(each, file=tree.prefix + each.file) for each in merged.conflicts]
    if placed and not decision:
        hint = "--ours keeps yours, --theirs takes the new version's, --markers writes both into the files"
        number = output.counted(len(placed), "conflict")
        raise ConflictError(*placed, Problem(f"{number}; nothing was changed", hint=hint))
    for each in placed:
        output.note(f"{each}: decided by --{decision}")
    return merged


def _names(tree: Tree) -> list[str]:
    """Return the name that the package has, if it says it."""
    has_name = tree.has_file(manifest.FILE)
    return [Manifest.parse(tree.read(manifest.FILE)).name] if has_name else []


def _changes(ours: Files, merged: Merged) -> list[dict[str, str]]:
    return [
        {"file": path, "change": "removed" if data is None else "changed" if path in ours else "added"}
        for path, data in merged.files.items()
    ]


def _tell(folder: Path, base: Bundle, theirs: Bundle, merged: Merged) -> None:
    """Say in a line what was done, and what there is to do."""
    if not merged.files:
        output.note(f"{folder}: is {theirs.name} {theirs.version} already; nothing changes")
        return
    kept = ", ".join(
        output.counted(len(each), noun)
        for each, noun in (
            (merged.values, "value"),
            (merged.options, "enabled option"),
            (merged.edited, "file with edits"),
        )
        if each
    )
    word = "downgraded" if order(theirs.version) < order(base.version) else "upgraded"
    note = f"{theirs.name} {word} from {base.version} to {theirs.version}"
    output.note(f"{note}; kept {kept}" if kept else note)
    for (where, name), (_, new) in merged.values.items():
        if name != new:
            output.note(f"{folder / where}: {name} is {new} now, with your value")
    for where, name in merged.to_set:
        output.note(f"{folder / where}: {name} has to be set: packyard set {quote(str(folder / where))} {name}=…")


def _document(base: Bundle, theirs: Bundle, ours: Files, merged: Merged) -> dict[str, object]:
    conflicts = [{"file": each.file, "line": each.line, "message": each.message} for each in merged.conflicts]
    return {
        "name": theirs.name,
        "from": base.version,
        "to": theirs.version,
        "files": _changes(ours, merged),
        "values": [
            {"directory": where, "name": name, "setter": new} for (where, name), (_, new) in merged.values.items()
        ],
        "options": [{"directory": where, "option": name} for where, name in merged.options],
        "edited": list(merged.edited),
        "conflicts": conflicts,
        "toSet": [{"directory": where, "name": name} for where, name in merged.to_set],
    }
