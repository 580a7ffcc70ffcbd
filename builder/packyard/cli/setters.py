"""Show a package's setters: their values, whether they are set or have to be, and how many fields they reach."""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import output
from packyard.setters.directory import find_all, read_package
from packyard.setters.listing import Row, list_setters
from packyard.text.tree import Tree

_COLUMNS = ("NAME", "VALUE", "SET", "TYPE", "FIELDS", "DESCRIPTION")


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
    listed = {package: list_setters(read_package(tree, package)) for package in find_all(tree)}
    if arguments.unset:
        listed = {package: [row for row in rows if row.must_be_set] for package, rows in listed.items()}
    if arguments.output == "json":
        output.json_result([{"package": package or ".", "setters": [_document(row) for row in rows]}
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
    return 0


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
