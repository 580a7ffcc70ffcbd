"""Show a package's setters: their values, whether they are set or have to be, how many fields they reach, the rules."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from packyard.cli import declare, directory, output, state, use_cases
from packyard.cli.rows import Rows
from packyard.cli.using import edits
from packyard.core.bundle import shipped
from packyard.core.errors import refuse
from packyard.core.files.tree import Tree
from packyard.using.options import folder as folders
from packyard.using.options import option_setters, usecases
from packyard.using.setters import valuesfile
from packyard.using.setters.definition import Setter
from packyard.using.setters.listing import (
    ListedRule,
    ListedSetter,
    constraint,
    in_order,
    kind,
    list_rules,
    list_setters,
)
from packyard.using.setters.packages import all_below, read_package

ROWS = Rows(
    "package",
    "package, description, setters (name=setter.name, value=setter.shown, default=setter.default, set=setter.is_set, "
    "setBy=setter.set_by?, required=setter.required, mustBeSet=setter.must_be_set, type=setter.type?, "
    "schema=setter.schema, fields=count, description=setter.description, example=setter.example, file=setter.file, "
    "line=setter.line), rules (rule=rule.text, message=rule.message, setters=rule.names, holds, "
    "file=rule.node.source.name, line)",
    wide=None,
)
_COLUMNS = ("NAME", "VALUE", "SET", "TYPE", "FIELDS", "DESCRIPTION")
_RULE_COLUMNS = ("RULE", "HOLDS", "MESSAGE")
#: What is said where nothing is listed, by ``--unset`` and ``--set``.
_NOTHING = {(True, False): "every required value is set", (False, True): "nothing was set"}
_HOLDS = {True: "yes", False: "BROKEN", None: "not yet known"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser)
    declare.switch(parser, "--unset", "only required ones without a value")
    declare.switch(parser, "--set", "only those that were set")


def run(arguments: argparse.Namespace) -> int:
    """List the setters of the package, or of every package below a folder that is not a package."""
    tree = Tree(directory.only(arguments.words, "setters"))
    state.tell_pending(tree)
    packages = {package: read_package(tree, package) for package in all_below(tree)}
    if not packages:
        raise usecases.refusal(tree.root_dir, "setters")
    options = _options(tree.root_dir, packages)
    listed = {package: in_order(list_setters(files)) for package, files in packages.items()}
    rules = {package: list_rules(files) for package, files in packages.items()}
    listed.update({heading: rows for heading, (rows, _) in options.items()})
    rules.update({heading: option_rules for heading, (_, option_rules) in options.items()})
    if arguments.unset:
        listed = {package: [row for row in rows if row.setter.must_be_set] for package, rows in listed.items()}
    if arguments.set:
        listed = {package: [row for row in rows if row.setter.is_set] for package, rows in listed.items()}
    if arguments.output == "yaml":
        output.data(valuesfile.write(_values(listed)).encode())
        return 0
    descriptions = {package: shipped.description(tree.root_dir / package) for package in packages}
    tables = [(package or ".", descriptions.get(package, ""), rows, rules[package]) for package, rows in listed.items()]
    if ROWS.show(tables, arguments.output):
        has_any = False
        for package, rows in listed.items():
            is_option = package in options
            if package and has_any and (rows or rules[package]):
                output.line()
            has_any = has_any or bool(rows or rules[package])
            if package and (rows or rules[package]):
                shared_values = " (for all use cases that have the option)" if is_option else ""
                output.line(f"{package}{shared_values}:")
            if descriptions.get(package) and rows and not (arguments.unset or arguments.set):
                for line in use_cases.sentence(descriptions[package], use_cases.INDENT if package else ""):
                    output.line(line)
            if rows or not package:
                _show(tree.root_dir if is_option else tree.root_dir / package, rows, wide=arguments.wide)
            _tell_rules(rules[package], only_broken=arguments.unset or arguments.set, wide=arguments.wide)
        if not any(listed.values()):
            output.note(_NOTHING.get((arguments.unset, arguments.set), "there are no setters here"))
        edits.tell_by_hand(tree.root_dir)
    return 0


def _options(root_dir: Path, packages: Mapping[str, object]) -> dict[str, tuple[list[ListedSetter], list[ListedRule]]]:
    """Return the setters of the options that the packages have enabled, by a heading; each option once."""
    by_heading: dict[str, tuple[list[ListedSetter], list[ListedRule]]] = {}
    for package in packages:
        folder = folders.find(root_dir / package)
        if folder is None or os.path.relpath(folder.real, os.path.realpath(root_dir)) in packages:
            continue
        for option in option_setters.read_enabled(root_dir / package):
            heading = f"{folder.shown}/{option.name}"
            names = option.setters.keys()
            rules = [row for row in list_rules(option.files) if not names.isdisjoint(row.rule.names)] if names else []
            by_heading[heading] = (in_order(option.listed), rules)
    return by_heading


def _values(listed: Mapping[str, Sequence[ListedSetter]]) -> dict[str, str | Sequence[str]]:
    """Return one value for each name; a values file has no place for two."""
    by_name: dict[str, Setter] = {}
    problems = []
    for setter in (row.setter for rows in listed.values() for row in rows):
        first = by_name.setdefault(setter.name, setter)
        if (first.shown, first.is_list) != (setter.shown, setter.is_list):
            message = f"{setter.name} is {setter.shown!r}, and {first.shown!r} at {first.file}:{first.line}"
            problems.append(setter.problem(message, "a values file has one value for a name: name one package"))
    refuse(problems)
    return {name: (setter.values or ()) if setter.is_list else setter.shown for name, setter in sorted(by_name.items())}


def _show(package_dir: Path, rows: list[ListedSetter], *, wide: bool) -> None:
    if rows:
        output.table(_COLUMNS, [_cells(row) for row in rows], wide=wide, prose=1)
    missing = [f"{row.setter.name}=…" for row in rows if row.setter.must_be_set]
    if missing and package_dir.resolve().name == folders.NAME:
        names = ", ".join(each.removesuffix("=…") for each in missing)
        output.note(f"to be set only where an option that has it is enabled: {names}")
    elif missing:
        output.note(f"{len(missing)} to be set: packyard set {quote(str(package_dir))} {' '.join(missing)}")


def _tell_rules(rows: list[ListedRule], *, only_broken: bool, wide: bool) -> None:
    if rows and not only_broken:
        output.line()
        cells = [(row.rule.text, _HOLDS[row.holds], row.rule.message) for row in rows]
        output.table(_RULE_COLUMNS, cells, wide=wide, prose=1)
    for row in rows:
        if row.broken:
            output.warning(str(row.broken))


def _cells(row: ListedSetter) -> tuple[str, ...]:
    setter = row.setter
    state = "yes" if setter.is_set else ""
    state = "REQUIRED" if setter.must_be_set else f"by {setter.set_by}" if setter.set_by else state
    takes = " ".join(filter(None, (kind(setter), constraint(setter))))
    return (setter.name, setter.shown, state, takes, str(row.count), " ".join(setter.description.split()))
