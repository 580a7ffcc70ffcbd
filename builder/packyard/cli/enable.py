"""Fold options of the use case in DIR into its files, with their setters; `packyard disable` takes them out again.

The options are in DIR/options. Without a name it lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from packyard.cli import arguments as shared
from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.errors import InputError, Problem
from packyard.files.tree import Tree
from packyard.setters.directory import find_packages
from packyard.source.enabling import component, replaced
from packyard.source.enabling.change import Outcome, enable
from packyard.source.enabling.draft import Draft


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME...]", "NAME is an option.")
    parser.add_argument(
        "-R", "--recurse-subpackages", action="store_true", help="every use case below DIR that has the options"
    )
    shared.add_dry_run(parser)
    shared.add_wide(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Enable them, and name the files."""
    return change(arguments, enable, "enabled")


def change(arguments: argparse.Namespace, act: Callable[..., Outcome], done: str) -> int:
    """Enable or disable, and say what that changed."""
    directory, names = directories.split(arguments.words, "an option", lambda here: component.names(Tree(here)))
    folders = _folders(directory, names) if arguments.recurse_subpackages else [directory]
    if not names or arguments.dry_run:
        state.tell_pending(Tree(directory))
    if not names:
        _list(folders, arguments)
        return 0
    title = f"{done.removesuffix('d')} {' '.join(names)}"
    for folder in folders if len(folders) > 1 else ():  # what one refuses is done in none
        act(folder, *names, dry_run=True)
    outcomes = {
        folder: act(folder, *names, dry_run=arguments.dry_run, keep=state.keep(folder, title)) for folder in folders
    }
    if arguments.output == "json":
        output.json_result([_document(folder, outcome, done) for folder, outcome in outcomes.items()])
        return 0
    for folder, outcome in outcomes.items():
        if arguments.dry_run:
            output.diffs(folder, {path: (outcome.before[path], data) for path, data in outcome.after.items()})
        else:
            _tell(folder, outcome, done)
    return 0


def _folders(directory: Path, names: list[str]) -> list[Path]:
    """Return the use cases below that have all the options."""
    found = [directory / package for package in find_packages(Tree(directory), recursive=True)]
    fitting = [folder for folder in found if set(names) <= set(component.names(Tree(folder)))]
    if not fitting:
        hint = f"packyard enable {directory} -R lists what there is"
        raise InputError(Problem(f"no use case below has {' and '.join(names)}", file=str(directory), hint=hint))
    return fitting


def _list(folders: list[Path], arguments: argparse.Namespace) -> None:
    rows = []
    for folder in folders:
        tree = Tree(folder)
        names = component.names(tree)
        done = replaced.read(Draft(folder))
        if not names:
            output.story(f"{folder}: has no options")
        rows += [(folder, name, name in done, component.describe(tree, name)) for name in names]
    if arguments.output == "json":
        keys = ("directory", "option", "enabled", "description")
        output.json_result([dict(zip(keys, (str(folder), *row), strict=True)) for folder, *row in rows])
        return
    for folder in folders:
        if len(folders) > 1:
            output.line(f"{folder}:")
        cells = [(name, "yes" if done else "", text) for where, name, done, text in rows if where == folder]
        if cells:
            output.table(("OPTION", "ENABLED", "DESCRIPTION"), cells, wide=arguments.wide, prose=1)


def _tell(folder: Path, outcome: Outcome, done: str) -> None:
    names = " and ".join(outcome.names)
    if not outcome.after:
        output.story(f"{folder}: {names} {'is' if len(outcome.names) == 1 else 'are'} {done} already")
        return
    for path in sorted(outcome.after):
        output.line(str(folder / path))
    output.story(f"{folder}: {names} {'is' if len(outcome.names) == 1 else 'are'} {done}")
    if outcome.setters and done == "enabled":
        new = [f"{name} (has to be set)" if setter.must_be_set else name for name, setter in outcome.setters.items()]
        output.story(f"new setters: {', '.join(new)}; packyard set {folder} NAME=VALUE")


def _document(folder: Path, outcome: Outcome, done: str) -> dict[str, object]:
    files = [
        {
            "file": path,
            "change": "added" if outcome.before[path] is None else "removed" if data is None else "changed",
        }
        for path, data in sorted(outcome.after.items())
    ]
    return {
        "directory": str(folder),
        "options": list(outcome.names),
        "state": done,
        "setters": list(outcome.setters),
        "files": files,
    }
