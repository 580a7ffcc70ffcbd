"""Compare two packages, libraries, source trees or releases: use cases, options, setters, fields, files.

packyard diff OLD.tar.gz NEW.tar.gz            two bundles
packyard diff NAME@1.0 NAME@1.1                two versions that a channel has; @1.0 @1.1 are two whole releases
packyard diff ../old packages/NAME             two folders: untarred packages, sources (composed first), libraries
packyard diff DIR                              an untarred package and the bundle that it came from
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from packyard.cli import compared, fanout, output, untarred
from packyard.cli.rows import FORMS, Rows
from packyard.core.errors import UsageError
from packyard.using.upgrade import report
from packyard.using.upgrade.difference import Change, Files, compare_all
from packyard.using.upgrade.merge import edited_by_hand

FIELDS = "package, where, what, name, path, change, before, after, setter, note, breaking"
ROWS = Rows("difference", FIELDS, forms=(*FORMS, "markdown"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    what = "a folder, a .tar.gz, NAME@VERSION, @VERSION, or the address of a bundle"
    parser.add_argument("old", metavar="A", nargs="?", default=".", help=f"{what} (default: here)")
    parser.add_argument("new", metavar="B", nargs="?", help="as A; without it A is an untarred package")
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="the channel that has NAME@VERSION")
    parser.add_argument("--base", metavar="FILE", help="the bundle that an untarred package came from")
    parser.add_argument("--text", action="store_true", help="print a unified diff of the files")
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what differs."""
    before = _origin(arguments) if arguments.new is None else compared.read(arguments.old, arguments)
    after = compared.read(arguments.new or arguments.old, arguments)
    if len(before) == len(after) == 1:  # whatever they are called
        before = dict(zip(after, before.values(), strict=True))
    if arguments.text:
        _text(before, after)
        return 0
    found = compare_all(before, after)
    if arguments.new is None:
        found = {name: tuple(_with_edited(found.get(name, ()), before[name], after[name])) for name in after}
    show(found, arguments.output)
    changes = [(name, each) for name, changes in found.items() for each in changes]
    places = output.counted(len({(name, each.where) for name, each in changes}), "place")
    output.note(
        f"{output.counted(len(changes), 'difference')} in {places}{breaking(found)}" if changes else "no difference"
    )
    return 0


def _origin(arguments: argparse.Namespace) -> compared.Packages:
    """Return the bundle that an untarred package came from."""
    folder = Path(arguments.old)
    if not folder.is_dir():
        raise UsageError("packyard diff: B is missing: name two packages, or the folder of an untarred one")
    hint = "name what to compare it with: packyard diff A B"
    bundle = untarred.base(folder, arguments.channel, arguments.base, hint)
    return {bundle.name: compared.files_of(bundle.members)}


def _with_edited(changes: Sequence[Change], before: Files, after: Files) -> list[Change]:
    """Return what differs in an untarred package, and the files that were edited by hand."""
    found = list(changes)
    known = {f"{each.where}/{each.name}".lstrip("/") for each in changes if each.what == "file"}
    for path in edited_by_hand(before, after, Path()):
        if path not in known:
            where, _, file = path.rpartition("/")
            found.append(Change(where=where, what="file", name=file, change="changed", note="edited by hand"))
    return sorted(found, key=lambda each: each.where)


def show(found: Mapping[str, tuple[Change, ...]], form: str) -> None:
    """Print what differs between packages."""
    if form == "markdown":
        output.page(report.markdown(found))
    elif ROWS.show(documents(found), form):
        for line in report.text(found):
            output.line(line)


def documents(found: Mapping[str, tuple[Change, ...]]) -> list[dict[str, object]]:
    """Return what differs between packages as JSON has it."""
    return [report.document(name, each) for name, changes in found.items() for each in changes]


def breaking(found: Mapping[str, tuple[Change, ...]]) -> str:
    """Say how many changes break something, if any do."""
    number = sum(each.is_breaking for changes in found.values() for each in changes)
    return f"; {number} BREAKING" if number else ""


def _text(before: Mapping[str, Files], after: Mapping[str, Files]) -> None:
    """Print a unified diff; the files of several packages are below their names."""
    prefix = "{}/" if len(after) > 1 else ""
    old, new = (
        {prefix.format(name) + path: data for name, files in side.items() for path, data in files.items()}
        for side in (before, after)
    )
    output.texts({path: (old.get(path), new.get(path)) for path in {*old, *new}})
