"""Show a package's setters: their values, whether they are set or have to be, how many fields they reach, the rules."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.cli import declare, directory, output, state, use_cases
from packyard.cli.rows import FORMS, Rows
from packyard.cli.using import edits
from packyard.core.bundle import address, shipped
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
from packyard.using.setters.plan import Listed

ROWS = Rows(
    "package",
    "package, description, setters (name=setter.name, value=setter.shown, default=setter.default, set=setter.is_set, "
    "setBy=setter.set_by?, required=setter.required, mustBeSet=setter.must_be_set, type=setter.type?, "
    "schema=setter.schema, fields=field_count, description=setter.description, example=setter.example, "
    "file=setter.file, line=setter.line), "
    "rules (rule=rule.text, message=rule.message, setters=rule.names, holds, file=rule.node.source.name, line)",
    forms=(*FORMS, "yaml"),  # a values file
)
_COLUMNS = ("NAME", "VALUE", "SET", "TYPE", "FIELDS", "DESCRIPTION")
_RULE_COLUMNS = ("RULE", "HOLDS", "MESSAGE")
_HOLDS = {True: "yes", False: "BROKEN", None: "not yet known"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser)
    declare.switch(parser, "--unset", "only required ones without a value")
    declare.switch(parser, "--set", "only those that were set")


@dataclass(frozen=True, slots=True)
class _Listing:
    """The setters and rules of a package or an option, and the folder to set them in; the package named has no heading.

    Setters of an option are for all use cases that have it.
    """

    heading: str
    directory: Path
    setters: Sequence[ListedSetter]
    rules: Sequence[ListedRule]
    description: str = ""
    is_option: bool = False


def run(arguments: argparse.Namespace) -> int:
    """List the setters of the package, or of every package below a folder that is not a package."""
    tree = Tree(directory.only(arguments.words, "setters"))
    state.tell_pending(tree)
    packages = [_package(tree, package) for package in all_below(tree)]
    if not packages:
        raise usecases.refusal(tree.root_dir, "setters")
    every = [*packages, *_options(tree.root_dir, [each.heading for each in packages])]
    listings = [replace(each, setters=_chosen(arguments, each.setters)) for each in every]
    if arguments.output == "yaml":
        output.data(valuesfile.write(_values(listings)).encode())
        return 0
    rows = [(each.heading or ".", each.description, each.setters, each.rules) for each in listings]
    if ROWS.show(rows, arguments.output):
        _show(arguments, listings)
        edits.tell_by_hand(tree.root_dir)
    return 0


def _package(tree: Tree, package: str) -> _Listing:
    files = read_package(tree, package)
    package_dir = tree.root_dir / package
    setters = in_order(list_setters(files))
    return _Listing(package, package_dir, setters, list_rules(files), shipped.description(package_dir))


def _options(root_dir: Path, packages: Sequence[str]) -> list[_Listing]:
    """Return the setters of the options that the packages have enabled; each option once."""
    by_heading: dict[str, _Listing] = {}
    for package in packages:
        folder = folders.find(root_dir / package)
        if folder is None or os.path.relpath(folder.real, os.path.realpath(root_dir)) in packages:
            continue
        for option in option_setters.read_enabled(root_dir / package):
            heading = f"{folder.shown}/{option.name}"
            names = option.setters.keys()
            rules = [row for row in list_rules(option.files) if not names.isdisjoint(row.rule.names)] if names else []
            by_heading[heading] = _Listing(heading, root_dir, in_order(option.listed), rules, is_option=True)
    return list(by_heading.values())


def _chosen(arguments: argparse.Namespace, setters: Sequence[ListedSetter]) -> Sequence[ListedSetter]:
    if arguments.unset:
        setters = [row for row in setters if row.setter.must_be_set]
    if arguments.set:
        setters = [row for row in setters if row.setter.is_set]
    return setters


def _values(listings: Sequence[_Listing]) -> dict[str, str | Sequence[str]]:
    """Return one value for each name that sets a field; a values file has no place for two."""
    by_name: dict[str, Setter] = {}
    problems = []
    for setter in (row.setter for each in listings for row in each.setters if row.field_count):
        first = by_name.setdefault(setter.name, setter)
        if (first.shown, first.is_list) != (setter.shown, setter.is_list):
            message = f"{setter.name} is {setter.shown!r}, and {first.shown!r} at {first.file}:{first.line}"
            problems.append(setter.problem(message, "a values file has one value for a name: name one package"))
    refuse(problems)
    return {name: _value(setter) for name, setter in sorted(by_name.items())}


def _value(setter: Setter) -> str | Sequence[str]:
    if not setter.is_list:
        return setter.shown
    return Listed.of((), setter.value or '""') if setter.values is None else setter.values


def _show(arguments: argparse.Namespace, listings: Sequence[_Listing]) -> None:
    is_part = arguments.unset or arguments.set
    listed = [each for each in listings if each.setters or each.rules]
    for number, listing in enumerate(listed):
        if listing.heading:
            of_whom = " (for all use cases that have the option)" if listing.is_option else ""
            if number:
                output.line()
            output.line(f"{listing.heading}{of_whom}:")
        if listing.description and listing.setters and not is_part:
            for line in use_cases.sentence(listing.description, use_cases.INDENT if listing.heading else ""):
                output.line(line)
        _show_setters(listing)
        _show_rules(listing.rules, only_broken=is_part)
    if not any(each.setters for each in listings):
        output.note("every required value is set" if arguments.unset else "no setter to list")


def _show_setters(listing: _Listing) -> None:
    output.table(_COLUMNS, [_cells(row) for row in listing.setters])
    missing = [row.setter.name for row in listing.setters if row.setter.must_be_set]
    if missing and listing.directory.resolve().name == folders.NAME:
        output.note(f"to be set only where an option that has it is enabled: {', '.join(missing)}")
    elif missing:
        words = [address.typed(listing.directory), *(f"{name}=…" for name in missing)]
        output.note(f"{len(missing)} to be set: packyard set {' '.join(words)}")


def _show_rules(rows: Sequence[ListedRule], *, only_broken: bool) -> None:
    if rows and not only_broken:
        output.line()
        cells = [(row.rule.text, _HOLDS[row.holds], row.rule.message) for row in rows]
        output.table(_RULE_COLUMNS, cells)
    for row in rows:
        if row.broken:
            output.warning(str(row.broken))


def _cells(row: ListedSetter) -> tuple[str, ...]:
    setter = row.setter
    state = "yes" if setter.is_set else ""
    state = "REQUIRED" if setter.must_be_set else f"by {setter.set_by}" if setter.set_by else state
    takes = " ".join(filter(None, (kind(setter), constraint(setter))))
    return (setter.name, setter.shown, state, takes, str(row.field_count), " ".join(setter.description.split()))
