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
from pathlib import Path
from shlex import quote

from packyard.cli import arguments as shared
from packyard.cli import bundles, output, state
from packyard.cli.rows import Rows
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference, order
from packyard.core.errors import InputError, Problem
from packyard.core.files import paths
from packyard.core.files.tree import Tree
from packyard.using.upgrade.directory import Upgrade, upgrade

ROWS = Rows(
    "package",
    "name, from, to, files (file, change), values (directory, name, setter), options (directory, option), edited, "
    "conflicts (file, line, message), toSet (directory, name)",
)


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


def run(arguments: argparse.Namespace) -> int:
    """Upgrade, and print the files that changed."""
    folder, decision = Path(arguments.folder), arguments.decision
    _check_top(folder)
    hint = "name the top directory of one, or the bundle that it came from: --base FILE"
    base = bundles.origin(folder, arguments.channel, arguments.base, hint)
    theirs = _theirs(base.name, arguments.version, arguments.channel)
    if arguments.dry_run:
        state.tell_pending(Tree(folder))
    keep = state.keep(folder, f"upgrade {base.name} {base.version} to {theirs.version}")
    done = upgrade(folder, base, theirs, decision, dry_run=arguments.dry_run, keep=keep)
    for each in done.merged.conflicts:
        output.note(f"{each}: decided by --{decision}")
    is_text = ROWS.show([_row(base, theirs, done)], arguments.output)
    if is_text and arguments.dry_run:
        output.diffs(folder, {path: (done.ours.get(path), data) for path, data in done.merged.files.items()})
    elif is_text:
        for path, change in done.changes.items():
            output.line(f"{change:<8} {folder / path}")
    _tell(folder, base, theirs, done)
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


def _tell(folder: Path, base: Bundle, theirs: Bundle, done: Upgrade) -> None:
    """Say in a line what was done, and what there is to do."""
    merged = done.merged
    if not merged.files:
        output.note(f"{folder}: is {theirs.name} {theirs.version} already; nothing changes")
        return
    kept = ", ".join(
        output.counted(len(each), noun)
        for each, noun in (
            (merged.values, "value"),
            (merged.options, "enabled option"),
            (merged.edited, "edited file"),
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


def _row(base: Bundle, theirs: Bundle, done: Upgrade) -> dict[str, object]:
    merged = done.merged
    return {
        "name": theirs.name,
        "from": base.version,
        "to": theirs.version,
        "files": list(done.changes.items()),
        "values": [(*place, setter) for place, (_, setter) in merged.values.items()],
        "options": merged.options,
        "edited": merged.edited,
        "conflicts": merged.conflicts,
        "toSet": merged.to_set,
    }
