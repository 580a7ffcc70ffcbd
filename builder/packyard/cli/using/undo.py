"""Undo the last change below DIR by `set`, `enable`, `disable`, `upgrade` or `cfg`: files get their earlier bytes back.

Repeat it to undo the change before. It is refused if one of the files was changed since. An interrupted change is
finished by the next command; if files were changed meanwhile, use --finish or --take-back, which leave those alone.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from packyard.cli import arguments as shared
from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.files.history import UndoStep
from packyard.core.files.tree import Tree
from packyard.using.options import folder, option_setters

ROWS = Rows("change", "title, files (file, change)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser)
    shared.add_dry_run(parser)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--finish", action="store_true", help="only finish an interrupted change")
    way.add_argument("--take-back", action="store_true", help="only take back an interrupted change")


def run(arguments: argparse.Namespace) -> int:
    """Undo the change, and print the names of its files."""
    directory = directories.only(arguments.words, "undo")
    if arguments.finish or arguments.take_back:
        return _settle(Tree(directory), back=arguments.take_back)
    step = _undo(directory, dry_run=arguments.dry_run)
    is_text = ROWS.show([(step.title, list(_files(step)))], arguments.output)
    if is_text and arguments.dry_run:
        root_dir = os.path.realpath(directory)
        changes = {name: (step.after[name], data) for name, data in step.before.items()}
        output.diffs(directory, {os.path.relpath(step.path(name), root_dir): both for name, both in changes.items()})
    elif is_text:
        for name in sorted(step.before):
            output.line(os.path.relpath(step.path(name)))
        output.note(f"undone: {step.title}")
    return 0


def _undo(directory: Path, *, dry_run: bool) -> UndoStep:
    """Undo the newest change, or only check that it can be undone, and return it."""
    history = state.history()
    if history is None:
        raise UnavailableError("no history is kept without a home folder (set HOME, or XDG_STATE_HOME)")
    if not dry_run:
        return history.undo(directory, *_also(directory))
    state.tell_pending(Tree(directory))
    step = history.last(directory, *_also(directory))
    step.check_unchanged(Tree(Path(step.root)))
    return step


def _also(directory: Path) -> list[Path]:
    """Return the folder of the options that a use case has enabled: their values belong to it too."""
    try:
        found = folder.find(directory)
        return [Path(found.real)] if found and option_setters.read_enabled(directory) else []
    except PackyardError:  # a kustomization that cannot be read has none
        return []


def _files(step: UndoStep) -> Iterator[tuple[str, str]]:
    """Yield the files, and what becomes of each."""
    for name, data in sorted(step.before.items()):
        change = "removed" if data is None else "added" if step.after[name] is None else "changed"
        yield os.path.relpath(step.path(name)), change


def _settle(tree: Tree, *, back: bool) -> int:
    done, left = tree.settle(back=back)
    if not done and not left:
        raise InputError(Problem("has no interrupted change", file=str(tree.root_dir)))
    for file in done:
        output.line(os.path.relpath(file))
    for file in left:
        output.note(f"{os.path.relpath(file)}: was changed since then; left as it is")
    return 0
