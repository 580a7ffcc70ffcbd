"""Switch options on in the use case DIR: a line of its kustomization each, which `packyard disable` takes out.

Refused where an option does not fit the files there, or excludes one that is enabled. Without a name it lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from packyard.cli import arguments as shared
from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.cli.rows import Rows
from packyard.core.files.tree import Keep, Tree
from packyard.using.kustomize.builtin import try_components
from packyard.using.options import folder as folders
from packyard.using.options.option_setters import OptionSetters, read_options
from packyard.using.options.switch import Switched, enable, states

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
    shared.add_dry_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Enable options and list the values that they need; without a name list the options."""
    directory, names = split(arguments.words)
    if not names:
        state.tell_pending(Tree(directory))
        _list(directory, arguments)
        return 0

    def act(keep: Keep) -> Switched:
        trial = _trial(directory)
        return enable(directory, names, trial, dry_run=arguments.dry_run, keep=keep)

    return change(arguments, directory, names, "enable", act)


def split(words: list[str]) -> tuple[Path, list[str]]:
    """Return DIR and the names of options."""
    return directories.split(words, "an option", names)


def names(directory: Path) -> list[str]:
    """Return the names of a use case's options."""
    found = folders.find(directory)
    return found.names() if found else []


def change(
    arguments: argparse.Namespace, directory: Path, names: list[str], verb: str, act: Callable[[Keep], Switched]
) -> int:
    """Enable or disable, and say what that changed."""
    if arguments.dry_run:
        state.tell_pending(Tree(directory))
    outcome = act(state.keep(directory, f"{verb} {' '.join(names)}"))
    options = [option for option in read_options(directory) if option.name in names]
    setters = [name for option in options if option.name in outcome.changed for name in option.setters]
    row = (directory, f"{verb}d", outcome.changed, outcome.unchanged, outcome.file, setters)
    is_text = ROWS.show([row], arguments.output)
    if is_text and arguments.dry_run:
        output.diffs(directory, {outcome.file: (outcome.before, outcome.after)})
    elif is_text:
        _tell(directory, outcome, f"{verb}d", options)
    return 0


def _trial(directory: Path) -> Callable[[str], dict[str, int]]:
    return lambda text: try_components(directory, text)


def _tell(directory: Path, outcome: Switched, done: str, options: list[OptionSetters]) -> None:
    for name in outcome.unchanged:
        output.note(f"{directory}: {name} is {done} already, nothing changed")
    if not outcome.changed:
        return
    output.line(str(directory / outcome.file))
    if outcome.unsure:
        output.warning(f"{outcome.unsure}; run kustomize build to see whether it fits here")
    for name in outcome.changed:
        output.note(f"{directory}: {name} is {done}")
    if done == "enabled":
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
        output.note(f"{option.name} has the values {', '.join(values)}; to set one: {example}")
    else:
        found = folders.find(directory)
        file = found.file(option.name) if found else ""
        output.note(f"{option.name} has no values to set; its file says what can be changed: {file}")


def _list(directory: Path, arguments: argparse.Namespace) -> None:
    found = states(directory, _trial(directory))
    options = read_options(directory) if arguments.output != "text" else ()
    setters = {option.name: list(option.setters) for option in options}
    rows = [
        (directory, each.name, each.is_enabled, each.fits, each.reason, each.description, setters.get(each.name, []))
        for each in found
    ]
    if OPTIONS.show(rows, arguments.output, wide=arguments.wide, cells={"FITS": _fits}) and not found:
        output.note(f"{directory}: its package has no options")


def _fits(row: Mapping[str, Any]) -> str:
    return row["reason"] or "yes" if row["fits"] else f"no: {row['reason']}"
