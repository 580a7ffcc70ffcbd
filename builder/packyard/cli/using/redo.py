"""Do again what `packyard undo` took back last below DIR; repeat it for the change after that.

It is there until something else changes the same files. Edits by hand stay, as `undo` keeps them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import declare, state
from packyard.cli import directory as directories
from packyard.cli.using import undo
from packyard.core.files.tree import Tree

ROWS = undo.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser)
    declare.dry_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do the change again, and print the names of its files."""
    directory = directories.only(arguments.words, "redo")
    changes = undo.history()
    if arguments.dry_run:
        state.tell_pending(Tree(directory))
        step = changes.undone(directory, *undo.also(directory))
        return undo.show([(step, step.taken_back(Tree(Path(step.root)), undo.merged))], arguments, directory)
    step = changes.redo(directory, *undo.also(directory), merge=undo.merged)
    return undo.show([(step, step.before)], arguments, directory, "done again")
