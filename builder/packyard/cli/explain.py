"""Show a setter: what it may be, and every field that it reaches, with file and line and the substitutions between."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from packyard.cli import output
from packyard.errors import InputError, Problem, on_one_line, suggest
from packyard.files.tree import Tree
from packyard.setters.directory import find_all, read_package
from packyard.setters.explain import Field, find_fields
from packyard.setters.listing import Row, list_setters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Explain the setter in every package that has it."""
    tree = Tree(Path(arguments.directory))
    known: set[str] = set()
    found: list[tuple[Row, list[Field]]] = []
    for package in find_all(tree):
        files = read_package(tree, package)
        rows = list_setters(files)
        known |= {row.name for row in rows}
        found += [(row, find_fields(files, row.name)) for row in rows if row.name == arguments.name]
    if not found:
        message = f'setter "{arguments.name}" is not found'
        raise InputError(Problem(message, file=str(tree.root_dir), hint=suggest(arguments.name, known)))
    if arguments.output == "json":
        output.json_result(
            [{"file": row.file, "line": row.line, "name": row.name, "value": row.value,
              "fields": [asdict(field) for field in fields]} for row, fields in found]
        )  # fmt: skip
        return 0
    for row, fields in found:
        _print(row, fields)
    return 0


def _print(row: Row, fields: list[Field]) -> None:
    print(f"{row.file}:{row.line}: {row.name}: {row.description}")
    allowed = " ".join(filter(None, (row.type, row.constraint, str(row.schema.get("pattern", "")))))
    for label, text in (("value", row.value or "(empty)"), ("shipped", row.default or ""), ("allowed", allowed)):
        if text:
            print(f"  {label:<8} {text}")
    for field in fields:
        way = " -> ".join(field.through)
        place = f"{on_one_line(field.file)}:{field.line}:{field.column}"
        print(f"  {place}: {field.path}: {field.value or '(empty)'}  [{way}]")
