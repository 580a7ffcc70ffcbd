"""Enable options in the use case DIR: each adds a line to its kustomization. Without OPTION, list them.

packyard enable [DIR] OPTION...        refused if one does not fit the files
                                       there, or excludes one that is enabled
packyard enable [DIR] OPTION... --off  disable them: their lines go, and values
                                       that were set stay set
packyard enable [DIR]                  list the options
"""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from packyard.cli import declare, output, state
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.core.bundle import address, delivery
from packyard.core.errors import UsageError
from packyard.core.files.tree import Tree
from packyard.using.options import options as package_options
from packyard.using.options import usecases
from packyard.using.options.option_setters import OptionSetters, read_options
from packyard.using.options.switch import Switched, states, switch

ROWS = Rows("use case", "directory, state, options, already, file, setters")
OPTIONS = Rows(
    "option",
    "directory, option, enabled, fits, reason, description, setters",
    "without OPTION",
    columns="OPTION, ENABLED, FITS, DESCRIPTION",
)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[OPTION...]")
    parser.switch("--off", "disable the options")


def run(arguments: declare.Arguments) -> None:
    """Enable options and list the values that they need, or disable them; without a name list the options."""
    directory, names = directories.split(arguments.words, "an option", _names)
    directory = usecases.chosen(directory, "enable --off" if arguments.off else "enable", names)
    if not names:
        output.note(*Tree(directory).warnings())
        if arguments.off:
            hint = f"packyard enable {address.typed(directory)} lists them"
            raise UsageError(f"packyard enable: --off needs an option; {hint}")
        _list(directory, arguments)
        return
    verb = "disable" if arguments.off else "enable"
    log = state.log(f"{verb} {' '.join(names)}")
    use_case = Tree(directory)
    switched = switch(use_case, names, off=arguments.off, log=log)
    options = [option for option in read_options(use_case) if option.name in switched.changed]
    setters = [name for option in options for name in option.setters]
    row = (directory, f"{verb}d", switched.changed, switched.unchanged, switched.file, setters)
    if ROWS.show([row], arguments.output):
        _tell(directory, switched, f"{verb}d", options)


def _names(directory: Path) -> set[str]:
    """Return the names of the options of a use case, and of those below a directory."""
    return {name for path in (directory, *map(Path, usecases.below(directory))) for name in package_options.names(path)}


def _tell(directory: Path, outcome: Switched, word: str, options: list[OptionSetters]) -> None:
    output.note(*(f"{name} is {word} already, nothing changed" for name in outcome.unchanged))
    if not outcome.changed:
        return
    output.detail(str(directory / outcome.file))
    if outcome.unsure:
        output.warning(f"{outcome.unsure}; run kustomize build to see whether it fits here")
    said = options if word == "enabled" else []
    texts = {option.name: f": {option.description}" for option in said if option.description}
    output.line(*(f"{name} is {word}{texts.get(name, '')}" for name in outcome.changed))
    for option in said:
        _tell_values(directory, option)
        _tell_secrets(directory, option.name)


def _tell_values(directory: Path, option: OptionSetters) -> None:
    """Say which values an option has, and how they are set."""
    if setters := list(option.setters.values()):
        values = [f"{item.name} ({'required' if item.must_be_set else item.shown or 'empty'})" for item in setters]
        wanted = next((setter for setter in setters if setter.must_be_set), setters[0])
        example = f"packyard set {address.typed(directory)} {wanted.name}={quote(wanted.example or 'VALUE')}"
        output.note(f"{option.name} has {output.counted(len(setters), 'parameter')}, {', '.join(values)}: {example}")


def _tell_secrets(directory: Path, option: str) -> None:
    """Say which Secrets an option has to have, and how they are made."""
    package = delivery.package_of(directory)
    for required in package[1].options.get(option, ()) if package else ():
        if required.secret:
            literals = "".join(f" --from-literal={quote(key)}=VALUE" for key in required.keys)
            output.note(f"{option} needs a Secret: kubectl create secret generic {required.secret}{literals}")


def _list(directory: Path, arguments: declare.Arguments) -> None:
    use_case = Tree(directory)
    option_states = states(use_case)
    setters = {option.name: list(option.setters) for option in read_options(use_case)}
    rows = [
        (directory, item.name, item.is_enabled, item.fits, item.reason, item.description, setters.get(item.name, []))
        for item in option_states
    ]
    if not OPTIONS.show(rows, arguments.output, cells={"DESCRIPTION": _described}):
        return
    if not option_states:
        output.note(f"{directory}: its package has no options")
    elif any(state.reason for state in option_states) and not output.verbose:
        output.note("-v says why an option does not fit")


def _described(row: Mapping[str, Any]) -> str:
    return f"{row['description']} ({row['reason']})" if row["reason"] and output.verbose else row["description"]
