"""Fold an option of the use case in DIR into its files, with its setters; `packyard disable` takes it out again.

The options are in DIR/options. Without a name it lists them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from packyard.cli import output, state
from packyard.files.tree import Tree
from packyard.source.enabling import component
from packyard.source.enabling.change import Outcome, enable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Enable it, and name the files."""
    return change(arguments, enable, "enabled")


def change(arguments: argparse.Namespace, act: Callable[..., Outcome], done: str) -> int:
    """Enable or disable, and say what that changed."""
    directory = Path(arguments.directory)
    if arguments.name is None:
        tree = Tree(directory)
        output.table(
            ("OPTION", "DESCRIPTION"), [(name, component.describe(tree, name)) for name in component.names(tree)]
        )
        return 0
    title = f"{done.removesuffix('d')} {arguments.name}"
    outcome = act(directory, arguments.name, dry_run=arguments.dry_run, keep=state.keep(directory, title))
    if arguments.output == "json":
        output.json_result(_document(outcome, done))
    elif arguments.dry_run:
        for path, data in sorted(outcome.after.items()):
            sys.stdout.write(output.diff(outcome.before[path], data, path))
    elif not outcome.after:
        output.story(f"{directory}: {outcome.name} is {done} already")
    else:
        print("\n".join(sorted(outcome.after)))
        output.story(f"{directory}: {outcome.name} is {done}")
    return 0


def _document(outcome: Outcome, done: str) -> dict[str, object]:
    files = [
        {
            "file": path,
            "change": "added" if outcome.before[path] is None else "removed" if data is None else "changed",
        }
        for path, data in sorted(outcome.after.items())
    ]
    return {"option": outcome.name, "description": outcome.description, "state": done, "files": files}
