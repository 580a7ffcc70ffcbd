"""Compare two packages, libraries or source trees: use cases, options, setters, fields, files.

packyard diff OLD.tar.gz NEW.tar.gz  two bundles
packyard diff NAME@1.0 NAME@1.1      two versions that a channel has
packyard diff ../old packages/NAME   two folders: untarred packages, sources
                                     (composed first), libraries
packyard diff DIR                    an untarred package and its bundle
packyard diff NAME@1.0/USECASE NAME@1.1/USECASE -f values.yaml
                                     what these values render to, by both

git worktree add ../old main && packyard diff ../old .  what a change touches
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import compared, declare, fanout, output, packages, unified, untarred
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, UsageError
from packyard.using.render import every
from packyard.using.render.render import render
from packyard.using.upgrade import report
from packyard.using.upgrade.difference import Change, Files, compare_all
from packyard.using.upgrade.merge import edited_by_hand

FIELDS = "package, where, what, name, path, change, before, after, setter, note, breaking"
ROWS = Rows("difference", FIELDS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    what = "a folder, a .tar.gz, or NAME@VERSION"
    parser.add_argument("old", metavar="A", nargs="?", help=f"{what} (default: here)")
    parser.add_argument("new", metavar="B", nargs="?", help="as A; without it A is an untarred package")
    declare.value(parser, "--from CHANNEL", "the channel that has NAME@VERSION", dest="channel")
    declare.value(parser, "--base FILE", "the bundle that an untarred package came from")
    packages.add_values(parser, "compare what two use cases render to with the values of this file")
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what differs."""
    if arguments.values:
        return _rendered(arguments)
    if arguments.new is None:
        top, below = untarred.within(arguments.old or ".")
        before, after = _origin(top, arguments), compared.read(str(top), arguments)
    else:
        declare.alone(arguments, "diff", "beside A and B", "base")
        before, after = (compared.read(word, arguments) for word in (arguments.old, arguments.new))
    if len(before) == len(after) == 1:  # whatever they are called
        before = dict(zip(after, before.values(), strict=True))
    by_package = compare_all(before, after)
    if arguments.new is None:
        ((name, files),) = after.items()
        if below and not any(path.startswith(below) for path in (*files, *before[name])):
            hint = "packyard diff . NAME@VERSION compares a package with another version"
            raise InputError(Problem("no such folder", file=arguments.old, hint=hint))
        changes = _with_edited(by_package.get(name, ()), before[name], files, top.resolve())
        by_package = {name: tuple(change for change in changes if f"{change.where}/".startswith(below))}
    listed = [(name, change) for name, changes in by_package.items() for change in changes]
    if ROWS.show([report.document(name, change) for name, change in listed], arguments.output):
        for line in report.text(by_package):
            output.line(line)
    places = output.counted(len({(name, change.where) for name, change in listed}), "place")
    breaking = sum(change.is_breaking for _, change in listed)
    summary = f"{output.counted(len(listed), 'difference')} in {places}" + (f"; {breaking} BREAKING" * bool(breaking))
    output.note(summary if listed else "no difference")
    return 0


def _rendered(arguments: argparse.Namespace) -> int:
    """Print how the manifests of two use cases differ; both are rendered as if the same values were set."""
    declare.alone(arguments, "diff", "beside --values", "base")
    if arguments.new is None:
        raise UsageError("packyard diff: name two use cases to render with --values: packyard diff A/USECASE B/USECASE")
    both = []
    for word in (arguments.old, arguments.new):
        with packages.opened(argparse.Namespace(**vars(arguments), words=[word], locked=False), "diff") as use_case:
            typed = use_case.command("render")
            with every.with_values(use_case.directory, use_case.values, typed, enabling=use_case.options) as source:
                both.append(render(source, path=os.environ.get("PATH", ""), command=typed))
    unified.texts({"manifests.yaml": (both[0], both[1])})
    output.note("what the values render to differs" if both[0] != both[1] else "no difference")
    return 0


def _origin(folder: Path, arguments: argparse.Namespace) -> compared.Packages:
    """Return the bundle that an untarred package came from."""
    if not folder.is_dir():
        raise UsageError("packyard diff: B is missing: name two packages, or the folder of an untarred one")
    hint = "name what to compare it with: packyard diff A B"
    bundle = untarred.base(folder, arguments.channel, arguments.base, hint)
    return {bundle.name: compared.files_of(bundle.members)}


def _with_edited(changes: Sequence[Change], before: Files, after: Files, root_dir: Path) -> list[Change]:
    """Return what differs in an untarred package, and the files that were edited by hand."""
    extended = list(changes)
    changed_files = {f"{change.where}/{change.name}".lstrip("/") for change in changes if change.what == "file"}
    for path in edited_by_hand(before, after, root_dir):
        if path not in changed_files:
            where, _, file = path.rpartition("/")
            extended.append(Change(where=where, what="file", name=file, change="changed", note="edited by hand"))
    return sorted(extended, key=lambda change: change.where)
