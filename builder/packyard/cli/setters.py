"""Show a package's setters: their values, whether they are set or have to be, how many fields they reach, the rules."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from packyard.cli import arguments as shared
from packyard.cli import directory, output, state
from packyard.errors import Problem, refuse
from packyard.files.tree import Tree
from packyard.options import folder as folders
from packyard.options import values
from packyard.setters import valuesfile
from packyard.setters.listing import Row, RuleRow, list_rules, list_setters
from packyard.setters.packages import find_all, read_package

_COLUMNS = ("NAME", "VALUE", "SET", "TYPE", "FIELDS", "DESCRIPTION")
_RULE_COLUMNS = ("RULE", "HOLDS", "MESSAGE")
_HOLDS = {True: "yes", False: "BROKEN", None: "not yet known"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser)
    parser.add_argument("--unset", action="store_true", help="only required ones without a value")
    parser.add_argument("--set", action="store_true", help="only those that were set")
    shared.add_wide(parser)
    shared.add_output(parser, *shared.FORMS, "yaml")


def run(arguments: argparse.Namespace) -> int:
    """List the setters of the package, or of every package below a folder that is not a package."""
    tree = Tree(directory.only(arguments.words, "setters"))
    state.tell_pending(tree)
    packages = {package: read_package(tree, package) for package in find_all(tree)}
    options = _options(tree.root_dir, packages)
    listed = {package: list_setters(files) for package, files in packages.items()}
    rules = {package: list_rules(files) for package, files in packages.items()}
    listed.update({heading: rows for heading, (rows, _) in options.items()})
    rules.update({heading: found for heading, (_, found) in options.items()})
    if arguments.unset:
        listed = {package: [row for row in rows if row.must_be_set] for package, rows in listed.items()}
    if arguments.set:
        listed = {package: [row for row in rows if row.is_set] for package, rows in listed.items()}
    if arguments.output == "yaml":
        output.data(valuesfile.write(_values(listed)).encode())
    elif arguments.output == "json":
        output.json_result([{"package": package or ".", "setters": [_document(row) for row in rows],
                             "rules": [_rule_document(row) for row in rules[package]]}
                            for package, rows in listed.items()])  # fmt: skip
    else:
        for package, rows in listed.items():
            is_option = package in options
            if is_option and (rows or rules[package]):
                output.line()
            if package and (rows or rules[package]):
                shared_values = " (for all use cases that have the option)" if is_option else ""
                output.line(f"{package}{shared_values}:")
            if rows or not package:
                _show(tree.root_dir if is_option else tree.root_dir / package, rows, wide=arguments.wide)
            _tell_rules(rules[package], only_broken=arguments.unset or arguments.set, wide=arguments.wide)
    return 0


def _options(root_dir: Path, packages: Mapping[str, object]) -> dict[str, tuple[list[Row], list[RuleRow]]]:
    """Return the setters of the options that the packages have enabled, by a heading; each option once."""
    found: dict[str, tuple[list[Row], list[RuleRow]]] = {}
    for package in packages:
        folder = folders.find(root_dir / package)
        if folder is None or os.path.relpath(folder.real, os.path.realpath(root_dir)) in packages:
            continue
        for option in values.read_enabled(root_dir / package):
            heading = f"{folder.shown}/{option.name}"
            names = option.setters.keys()
            rules = [row for row in list_rules(option.files) if names & set(row.setters)] if option.rows else []
            found[heading] = (option.rows, rules)
    return found


def _values(listed: Mapping[str, Sequence[Row]]) -> dict[str, str | Sequence[str]]:
    """Return one value for each name; a values file has no place for two."""
    found: dict[str, Row] = {}
    problems = []
    for row in (row for rows in listed.values() for row in rows):
        first = found.setdefault(row.name, row)
        if (first.value, first.values) != (row.value, row.values):
            message = f"{row.name} is {row.value!r}, and {first.value!r} at {first.file}:{first.line}"
            hint = "a values file has one value for a name: name one package"
            problems.append(Problem(message, file=row.file, line=row.line, hint=hint))
    refuse(problems)
    return {name: row.value if row.values is None else row.values for name, row in sorted(found.items())}


def _show(package_dir: Path, rows: list[Row], *, wide: bool) -> None:
    output.table(_COLUMNS, [_cells(row) for row in rows], wide=wide, prose=1)
    missing = [f"{row.name}=…" for row in rows if row.must_be_set]
    if missing:
        output.note(f"{len(missing)} to be set: packyard set {quote(str(package_dir))} {' '.join(missing)}")


def _tell_rules(rows: list[RuleRow], *, only_broken: bool, wide: bool) -> None:
    if rows and not only_broken:
        output.line()
        cells = [(row.rule, _HOLDS[row.holds], row.message) for row in rows]
        output.table(_RULE_COLUMNS, cells, wide=wide, prose=1)
    for row in rows:
        if row.broken:
            output.warning(str(row.broken))


def _cells(row: Row) -> tuple[str, ...]:
    state = "REQUIRED" if row.must_be_set else f"by {row.set_by}" if row.set_by else "yes" if row.is_set else ""
    kind = " ".join(filter(None, (row.type, row.constraint)))
    return (row.name, row.value, state, kind, str(row.count), " ".join(row.description.split()))


def _document(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "value": row.value,
        "default": row.default,
        "set": row.is_set,
        "setBy": row.set_by or None,
        "required": row.required,
        "mustBeSet": row.must_be_set,
        "type": row.type or None,
        "schema": dict(row.schema),
        "fields": row.count,
        "description": row.description,
        "example": row.example,
        "file": row.file,
        "line": row.line,
    }


def _rule_document(row: RuleRow) -> dict[str, object]:
    return {
        "rule": row.rule,
        "message": row.message,
        "setters": list(row.setters),
        "holds": row.holds,
        "file": row.file,
        "line": row.line,
    }
