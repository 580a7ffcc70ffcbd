"""`packyard set --site`: finds the site's file, and says what it did to a package and what it left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.flags import Flags
from packyard.core.bundle import shipped
from packyard.core.errors import InputError, PackyardError, Problem, UsageError, suggest
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.using.kustomize.builtin import try_components
from packyard.using.options.layer import Layered, layer
from packyard.using.options.site import FILE, Site, parse

#: The variable that names a site's file.
SITE = "PACKYARD_SITE"
_LONGEST = 1 << 20  # bytes of a site's file
_NOT_WITH = ("values", "preset", "unset", "set-by")


def check(parsed: Flags) -> None:
    """Refuse what does not go with --site: a file without its =, and what sets other values."""
    for word in parsed.arguments:
        if os.path.isfile(word):  # noqa: PTH113  # a text
            raise UsageError(f"packyard set: unexpected {word!r}; type --site={word} if this is the site's file")
    for name in _NOT_WITH:
        if name in parsed.values:
            raise _two_commands(f"--{name}")


def find(flag: str = "") -> tuple[str, str] | None:
    """Return the site's file and what names it: the flag, the variable, or its place by default if it is there."""
    if flag:
        return os.path.expanduser(flag), "--site"  # noqa: PTH111  # the shell expands no ~ behind a =
    if os.environ.get(SITE):
        return os.environ[SITE], SITE
    folder = state.config_dir()
    file = str(folder / FILE) if folder else ""
    return (file, "default") if os.path.lexists(file) else None


def write(directory: Path, words: list[str], parsed: Flags) -> Layered:
    """Write the site's values and options into DIR; say on stderr what stays as it is, and which names are unknown."""
    if words:
        raise _two_commands(words[0])
    site, file = _read(parsed.text("site"))
    dry_run = parsed.switches["dry-run"]
    if dry_run:
        state.tell_pending(Tree(directory))
    layered = layer(
        directory,
        site,
        lambda use_case: partial(try_components, use_case),
        recursive=parsed.switches["recurse-subpackages"],
        shipped=shipped.values,
        dry_run=dry_run,
        log=state.log(f"--site={file}"),
    )
    if not dry_run and parsed.text("output") in ("", "text"):
        _print_enabled(layered)
    _tell(layered, site, file)
    for problem in _unknown(site, directory, layered):
        output.warning(str(problem))
    return layered


def _two_commands(other: str) -> UsageError:
    return UsageError(f"packyard set: --site and {other!r} are two commands: first --site, then {other}")


def _read(flag: str) -> tuple[Site, str]:
    location = find(flag)
    if location is None:
        place = state.config_dir() or "$XDG_CONFIG_HOME/packyard"
        hint = f"write it, or name another: --site=FILE, {SITE}"
        raise InputError(Problem("there is no such file", file=f"{place}/{FILE}", hint=hint))
    file, origin = location
    if not os.path.lexists(file):
        raise InputError(Problem("there is no such file", file=file, hint=f"{origin} names it"))
    return parse(regular.read(file, limit=_LONGEST), file), file


def _print_enabled(layered: Layered) -> None:
    for change in layered.changes:
        if switched := layered.enabled.get(change.package):
            output.line(
                f"{os.path.normpath(change.before.where + switched.file)}: enabled {', '.join(switched.changed)}"
            )


def _tell(layered: Layered, site: Site, file: str) -> None:
    for switched in layered.enabled.values():
        if switched.unsure:
            output.warning(f"{switched.unsure}; run kustomize build to see whether it fits here")
    for change in layered.changes:
        where = change.before.where or "./"
        for setter in layered.stayed[change.package]:
            why = "is set" if setter.is_set else "was edited"
            place = f"{file}:{site.values[setter.name].line}"
            output.note(f"{where}: {setter.name} {why} and stays {setter.shown}; {place} has another value")
    for name, reason in layered.left_out.items():
        output.note(f"{name} is not enabled: {reason}")


def _unknown(site: Site, directory: Path, layered: Layered) -> Iterator[Problem]:
    """Yield a problem for each name of the site that no package of the catalogue has."""
    values = [value for name, value in site.values.items() if name not in layered.known]
    options = [node for name, node in site.options.items() if name not in layered.known]
    if not values and not options:
        return
    from packyard.writing.source import workspace

    try:
        here = workspace.find(Path()) or workspace.built_in()
        package = shipped.package_of(directory)
        setters, moved = here.setter_names().union(layered.known), dict(here.moved)
    except PackyardError as error:
        yield from error.problems
        return
    if package:
        moved |= package[1].moved
        setters |= {name for use_case in package[1].use_cases.values() for name in use_case.setters}
    for value in values:
        if value.name in moved:
            yield value.problem(f"{value.name} is no longer a setter: {moved[value.name]}")
        elif value.name not in setters:
            yield value.problem(f"no package of the catalogue has a setter {value.name}", suggest(value.name, setters))
    names = here.option_names()
    for node in options:
        if node.value not in names:
            yield node.problem(f"no package of the catalogue has an option {node.value!r}", suggest(node.value, names))
