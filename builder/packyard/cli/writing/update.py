"""Pin the newest libraries that packyard.yaml asks for, and show first what that changes in the packages.

packyard update            all libraries, but for folders that were never pinned
packyard update NAME       one
packyard update --dry-run  only show what would change
packyard update --vendor   copy what is pinned into the workspace, to
                           libraries/NAME; no pin moves

The packages are composed with the libraries that are pinned and with the new ones, and compared. Nothing is pinned if
some do not compose with the new ones, or with --strict if anything breaks. Copies are used instead of what they were
made of, and are checked against packyard.lock; later updates replace them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from packyard.cli import compared, declare, fanout, libraries, output, progress, workspaces
from packyard.cli.rows import Rows
from packyard.cli.using import diff
from packyard.core.bundle.lock import Pin
from packyard.core.bundle.reference import order
from packyard.core.errors import InputError, PackyardError, Problem, refuse
from packyard.core.yaml.sources import Sources
from packyard.using.upgrade import report
from packyard.using.upgrade.difference import Change, compare_all
from packyard.writing.authoring import vendor
from packyard.writing.source import library
from packyard.writing.source.library import Library
from packyard.writing.source.library_entry import Entry
from packyard.writing.source.workspace import Workspace

ROWS = Rows("run", f"libraries (name, before, after, tar), changes ({diff.FIELDS}), unreached")
COPIES = Rows("copy of a library", "directory", "--vendor", line="{directory}")
EXAMPLE = "packyard update --dry-run --strict"
T = TypeVar("T")
#: What differs, by packages.
Found = Mapping[str, tuple[Change, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="libraries of packyard.yaml (default: all)")
    declare.switch(parser, "--dry-run", "show what would change; write nothing")
    declare.switch(parser, "--vendor", "copy what is pinned into the workspace")
    declare.switch(parser, "--strict", "pin nothing if something breaks, and exit with 1")
    declare.switch(parser, "--force", "pin also what some packages do not compose with")
    workspaces.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare, then pin; print what moves, and what it changes."""
    if arguments.vendor:
        return _vendor(arguments)
    root_dir = workspaces.root(arguments)
    pins = library.read_lock(root_dir).libraries
    listed = libraries.named(root_dir, [])
    chosen = [each for each in libraries.named(root_dir, arguments.names) if _is_wanted(each, arguments.names, pins)]
    vendor.check(root_dir, {each.name: pins[each.name] for each in chosen if each.name in pins})
    unreached: dict[str, None] = {}
    with progress.busy("looking for new libraries"):
        new = {each.name: libraries.newest(each, root_dir, unreached.setdefault) for each in chosen}
    moved = {name: pin for name, (_, pin) in new.items() if pins.get(name) != pin}
    refuse(filter(None, (_lower(each, pins.get(each.name), moved.get(each.name)) for each in chosen)))
    after = libraries.read(root_dir, instead=new)
    first = {name: place for name, place in new.items() if name not in pins}
    pinned = {**libraries.kept(pins), **first}  # those that are pinned now, or for the first time
    before = _as_pinned(lambda: libraries.find(root_dir, pinned)) if moved else None
    broken = _breaks(before or (), after.libraries)
    changes = _compare(arguments, root_dir, after, before, broken) if moved else {}
    _show(arguments.output, pins, moved, {**broken, **(changes or {})}, changes, [*unreached])
    if arguments.strict and diff.breaking({**broken, **(changes or {})}):
        output.problem("something breaks, so nothing is pinned (without --strict it is)")
        return 1
    if not arguments.dry_run:
        vendor.replace(root_dir, (each for each in after.libraries if each.name in new))
        left = {each.name: pins[each.name] for each in listed if each.name in pins}
        libraries.pin(root_dir, {**left, **moved}, after.libraries)
    return 0


def _lower(entry: Entry, before: Pin | None, after: Pin | None) -> Problem | None:
    """Say that a library would go back to a lower version, which packyard.yaml does not name in full."""
    if before is None or after is None or entry.reference is None or entry.reference.version or entry.reference.digest:
        return None
    if order(after.version) >= order(before.version):
        return None
    problem = f"is pinned at {before.version}, and {after.version} is the newest that can be had"
    return entry.problem(problem, f"to go back, name it in packyard.yaml: version: {after.version}")


def _vendor(arguments: argparse.Namespace) -> int:
    """Copy libraries and pin those that were not; print the new folders."""
    declare.alone(arguments, "update", "beside --vendor", "dry-run", "force", "strict")
    with progress.busy("fetching libraries"):
        here = workspaces.find(arguments)
    listed = libraries.named(here.root_dir, arguments.names)
    wanted = [each for each in here.libraries if each.name in {entry.name for entry in listed}]
    copied = vendor.copy(here.root_dir, wanted)
    pins = {each.name: each.pin for each in here.libraries if each.pin}
    pins |= {each.name: libraries.newest(each, here.root_dir)[1] for each in listed if each.name not in pins}
    libraries.pin(here.root_dir, pins, wanted)
    if COPIES.show(copied, arguments.output) and not copied:
        output.note("all libraries are copied already")
    return 0


def _is_wanted(entry: Entry, names: Sequence[str], pins: Mapping[str, Pin]) -> bool:
    return not entry.path or entry.name in names or entry.name in pins


def _as_pinned(ask: Callable[[], T]) -> T | None:
    """Return what is asked of the libraries that are pinned; None, with the reason, where it cannot be had."""
    try:
        return ask()
    except PackyardError as error:
        output.note(f"what changes in packages is not known, as they do not compose with what is pinned: {error}")
        return None


def _breaks(before: Sequence[Library], after: Sequence[Library]) -> Found:
    """Return what breaks in libraries, by their names."""
    old = {each.name: compared.files_of(library.members(Sources(each.root_dir))) for each in before}
    new = {each.name: compared.files_of(library.members(Sources(each.root_dir))) for each in after if each.name in old}
    by_name = compare_all({name: old[name] for name in new}, new)
    broken = {name: tuple(each for each in changes if each.is_breaking) for name, changes in by_name.items()}
    return {name: changes for name, changes in broken.items() if changes}


def _compare(
    arguments: argparse.Namespace, root_dir: Path, after: Workspace, before: Sequence[Library] | None, broken: Found
) -> Found | None:
    """Compose the packages with the libraries that are pinned and with the new ones.

    Return what differs, or None where that is not known.
    """
    names = after.package_names()
    try:
        new = compared.composed(compared.packing(root_dir, arguments, after.libraries), names, arguments)
    except PackyardError as error:
        problems = [_readable(each, after.libraries) for each in error.problems]
        if arguments.force:
            for each in problems:
                output.problem(str(each))
            return None
        for line in report.text(broken):
            output.note(line)
        hint = "correct the packages, or pin the libraries nevertheless: packyard update --force"
        raise InputError(*problems, Problem("packages do not compose with the new libraries", hint=hint)) from error
    if before is None:
        return None
    packing = compared.packing(root_dir, arguments, before)
    old = _as_pinned(lambda: compared.composed(packing, names, arguments))
    return None if old is None else compare_all(old, new)


def _readable(problem: Problem, fetched: Sequence[Library]) -> Problem:
    """Return a problem that calls a library that was fetched by its name and version, not by where it is kept."""
    for each in fetched:
        if each.pin and each.pin.tar.hex in str(each.root_dir):
            problem = problem.renamed(str(each.root_dir), f"{each.name}@{each.pin.version}")
    return problem


def _show(
    form: str,
    pins: Mapping[str, Pin],
    moved: Mapping[str, Pin],
    differing: Found,
    changes: Found | None,
    unreached: Sequence[str],
) -> None:
    """Print what moves, what breaks in it, and what it changes in packages: ``differing`` has both."""
    rows = [(name, pins[name].version if name in pins else "", pin.version, pin.tar) for name, pin in moved.items()]
    if not ROWS.show([(rows, diff.documents(differing), unreached)], form):
        return
    if rows:
        output.table(("LIBRARY", "PINNED", "NEW", "TAR"), rows)
        diff.show(differing, form)
        if changes is not None:
            changed = f"{output.counted(len(changes), 'package')} with changes" if changes else "no package changes"
            output.note(f"{changed}{diff.breaking(differing)}")
    else:
        output.note("all libraries are what they are pinned as")
