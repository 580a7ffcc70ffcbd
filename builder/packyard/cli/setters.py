"""Show a package's setters: their values, whether they are set or have to be, how many fields they reach, the rules."""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import output
from packyard.files.tree import Tree
from packyard.setters.directory import find_all, read_package
from packyard.setters.listing import Row, RuleRow, list_rules, list_setters

_COLUMNS = ("NAME", "VALUE", "SET", "TYPE", "FIELDS", "DESCRIPTION")
_RULE_COLUMNS = ("RULE", "HOLDS", "MESSAGE")
_HOLDS = {True: "yes", False: "BROKEN", None: "not yet known"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".")
    parser.add_argument(
        "--unset", action="store_true", help="only those that have to be set before a use case is built"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """List the setters of the package, or of every package below a folder that is none itself."""
    tree = Tree(Path(arguments.directory))
    packages = {package: read_package(tree, package) for package in find_all(tree)}
    listed = {package: list_setters(files) for package, files in packages.items()}
    rules = {package: list_rules(files) for package, files in packages.items()}
    if arguments.unset:
        listed = {package: [row for row in rows if row.must_be_set] for package, rows in listed.items()}
    if arguments.output == "json":
        output.json_result([{"package": package or ".", "setters": [_document(row) for row in rows],
                             "rules": [_rule_document(row) for row in rules[package]]}
                            for package, rows in listed.items()])  # fmt: skip
        return 0
    for package, rows in listed.items():
        if package:
            print(f"{package}:")
        output.table(_COLUMNS, [_cells(row) for row in rows])
        missing = sum(row.must_be_set for row in rows)
        if missing:
            names = " ".join(f"{row.name}=…" for row in rows if row.must_be_set)
            output.story(f"{missing} to be set: packyard set {tree.root_dir / package} {names}")
        _tell_rules(rules[package], only_broken=arguments.unset)
    return 0


def _tell_rules(rows: list[RuleRow], *, only_broken: bool) -> None:
    if rows and not only_broken:
        print()
        output.table(_RULE_COLUMNS, [(row.rule, _HOLDS[row.holds], row.message) for row in rows])
    for row in rows:
        if row.broken:
            output.story(str(row.broken))


def _cells(row: Row) -> tuple[str, ...]:
    state = "REQUIRED" if row.must_be_set else f"by {row.set_by}" if row.set_by else "yes" if row.is_set else ""
    kind = " ".join(filter(None, (row.type, row.constraint)))
    return (row.name, row.value, state, kind, str(row.count), row.description)


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
