"""Show a setter: what it may be, and every field that it reaches, with file and line and the substitutions between."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from packyard.cli import arguments as shared
from packyard.cli import directory, output, state
from packyard.errors import InputError, Problem, UsageError, suggest
from packyard.files.tree import Tree
from packyard.options import values
from packyard.setters.listing import Row, list_setters
from packyard.setters.packages import find_all, read_package
from packyard.setters.reached import Field, find_fields


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser, "NAME", "NAME is a setter, of packyard setters DIR.")
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain the setter in every package that has it."""
    root_dir, names = directory.split(arguments.words)
    if len(names) != 1:
        raise UsageError(
            f"packyard explain: one NAME is wanted, not {len(names)}; packyard setters {root_dir} lists them"
        )
    (name,) = names
    tree = Tree(root_dir)
    state.tell_pending(tree)
    known: set[str] = set()
    found: list[tuple[Row, list[Field]]] = []
    for package in find_all(tree):
        files = read_package(tree, package)
        rows = list_setters(files)
        known |= {row.name for row in rows}
        found += [(row, find_fields(files, row.name)) for row in rows if row.name == name]
        for option in values.read_enabled(root_dir / package):
            known |= option.setters.keys()
            found += [(row, find_fields(option.files, name)) for row in option.rows if row.name == name]
    found = list(
        {(row.file, row.line, *(field.file for field in fields)): (row, fields) for row, fields in found}.values()
    )
    if not found:
        hint = suggest(name, known) or f"packyard setters {root_dir} lists them"
        raise InputError(Problem(f'setter "{name}" is not found', file=str(root_dir), hint=hint))
    if arguments.output == "json":
        output.json_result(
            [{"file": row.file, "line": row.line, "name": row.name, "value": row.value,
              "fields": [asdict(field) for field in fields]} for row, fields in found]
        )  # fmt: skip
        return 0
    for row, fields in found:
        _show(row, fields)
    return 0


def _show(row: Row, fields: list[Field]) -> None:
    output.line(f"{row.file}:{row.line}: {row.name}: {' '.join(row.description.split())}")
    allowed = " ".join(filter(None, (row.type, row.constraint, str(row.schema.get("pattern", "")))))
    for label, text in (("value", row.value or "(empty)"), ("shipped", row.default or ""), ("allowed", allowed)):
        if text:
            output.line(f"  {label:<8} {text}")
    for field in fields:
        way = " -> ".join(field.through)
        place = f"{field.file}:{field.line}:{field.column}"
        output.line(f"  {place}: {field.path}: {field.value or '(empty)'}  [{way}]")
