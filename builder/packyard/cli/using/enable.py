"""Enable options in the use case DIR: each adds a line to its kustomization, which `packyard disable` takes out.

An option is refused if it does not fit the files there, or excludes one that is enabled. Without a name, `enable` lists
the options.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from packyard.cli import declare, output, state, unified
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.core.errors import UsageError
from packyard.core.files.tree import Keep, Tree
from packyard.using.kustomize.builtin import try_components
from packyard.using.options import folder as folders
from packyard.using.options import usecases
from packyard.using.options.option_setters import OptionSetters, read_options
from packyard.using.options.switch import Switched, enable, enable_below, states

ROWS = Rows("use case", "directory, state, options, already, file, setters", wide=None)
OPTIONS = Rows(
    "option",
    "directory, option, enabled, fits, reason, description, setters",
    "without NAME",
    columns="OPTION, ENABLED, FITS, DESCRIPTION",
    prose=1,
    wide=None,
    bare=True,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME...]", "NAME is an option.")
    declare.dry_run(parser)
    declare.switch(parser, "-R --recurse-subpackages", "in each use case below that it fits")


def run(arguments: argparse.Namespace) -> int:
    """Enable options and list the values that they need; without a name list the options."""
    directory, names = split(arguments, "enable")
    if not names:
        if arguments.recurse_subpackages:
            raise UsageError("packyard enable: -R needs the name of an option")
        state.tell_pending(Tree(directory))
        _list(directory, arguments)
        return 0

    def act(keep: Keep) -> dict[str, Switched]:
        if not arguments.recurse_subpackages:
            return {"": enable(directory, names, _trial(directory), dry_run=arguments.dry_run, keep=keep)}
        below = use_cases(directory)
        switched, misfits = enable_below(directory, below, names, _trial, dry_run=arguments.dry_run, keep=keep)
        for problem in misfits.values():
            output.note(str(problem))
        return switched

    return change(arguments, directory, names, "enable", act)


def split(arguments: argparse.Namespace, verb: str) -> tuple[Path, list[str]]:
    """Return DIR and the names of options; refuse a directory that is not a use case, unless all below are meant."""
    words: list[str] = arguments.words
    recursive: bool = arguments.recurse_subpackages
    if words and not Path(words[0]).is_dir() and words[0] in _names_below(Path()):
        if recursive:
            return Path(), words
        usecases.check(Path(), verb, words, all_by="-R")
    directory, rest = directories.split(words, "an option", folders.names)
    if not recursive:
        usecases.check(directory, verb, rest, all_by="-R" if rest else "")
    return directory, rest


def _names_below(directory: Path) -> set[str]:
    """Return the names of the options that use cases below a directory have."""
    return {name for path in usecases.below(directory) for name in folders.names(Path(path))}


def use_cases(directory: Path) -> list[str]:
    """Return the use cases of a directory, itself or those below, as paths from there."""
    return [os.path.relpath(path, directory) for path in usecases.below(directory)]


def change(
    arguments: argparse.Namespace,
    directory: Path,
    names: list[str],
    verb: str,
    act: Callable[[Keep], Mapping[str, Switched]],
) -> int:
    """Enable or disable, and say what that changed in each use case."""
    if arguments.dry_run:
        state.tell_pending(Tree(directory))
    outcomes = {directory / path: each for path, each in act(_keep(directory, verb, names)).items()}
    options = {here: [option for option in read_options(here) if option.name in names] for here in outcomes}
    rows = [_row(here, each, verb, options[here]) for here, each in outcomes.items()]
    is_text = ROWS.show(rows, arguments.output)
    for here, outcome in outcomes.items() if is_text else ():
        if arguments.dry_run:
            unified.diffs(here, {outcome.file: (outcome.before, outcome.after)})
        else:
            _tell(here, outcome, f"{verb}d", options[here])
    return 0


def _keep(directory: Path, verb: str, names: list[str]) -> Keep:
    return state.keep(directory, f"{verb} {' '.join(names)}")


def _row(here: Path, outcome: Switched, verb: str, options: list[OptionSetters]) -> tuple[object, ...]:
    setters = [name for option in options if option.name in outcome.changed for name in option.setters]
    return (here, f"{verb}d", outcome.changed, outcome.unchanged, outcome.file, setters)


def _trial(directory: Path) -> Callable[[str], dict[str, int]]:
    return lambda text: try_components(directory, text)


def _tell(directory: Path, outcome: Switched, word: str, options: list[OptionSetters]) -> None:
    for name in outcome.unchanged:
        output.note(f"{directory}: {name} is {word} already, nothing changed")
    if not outcome.changed:
        return
    output.line(str(directory / outcome.file))
    if outcome.unsure:
        output.warning(f"{outcome.unsure}; run kustomize build to see whether it fits here")
    for name in outcome.changed:
        output.note(f"{directory}: {name} is {word}")
    if word == "enabled":
        for option in options:
            if option.name in outcome.changed:
                _tell_values(directory, option)


def _tell_values(directory: Path, option: OptionSetters) -> None:
    """Say which values an option has, and how they are set."""
    setters = list(option.setters.values())
    if setters:
        values = [f"{each.name} ({'required' if each.must_be_set else each.shown or 'empty'})" for each in setters]
        wanted = next((each for each in setters if each.must_be_set), setters[0])
        example = f"packyard set {quote(str(directory))} {wanted.name}={quote(wanted.example or 'VALUE')}"
        number = "one setter" if len(setters) == 1 else f"{len(setters)} setters"
        output.note(
            f"{option.name} has {number}, {', '.join(values)}; to set {'it' if len(setters) == 1 else 'one'}: {example}"
        )
    else:
        option_folder = folders.find(directory)
        file = option_folder.file(option.name) if option_folder else ""
        output.note(f"{option.name} has no setters; its file says what can be changed: {file}")


def _list(directory: Path, arguments: argparse.Namespace) -> None:
    option_states = states(directory, _trial(directory))
    options = read_options(directory) if arguments.output != "text" else ()
    setters = {option.name: list(option.setters) for option in options}
    rows = [
        (directory, each.name, each.is_enabled, each.fits, each.reason, each.description, setters.get(each.name, []))
        for each in option_states
    ]
    if OPTIONS.show(rows, arguments.output, wide=arguments.wide, cells={"FITS": _fits}) and not option_states:
        output.note(f"{directory}: its package has no options")


def _fits(row: Mapping[str, Any]) -> str:
    return row["reason"] or "yes" if row["fits"] else f"no: {row['reason']}"
