"""`explain FILE:LINE`: which lines of the sources made a line of a composed file, and what they were put onto.

The file is NAME/PREFIX/USE-CASE/FILE of the workspace, as lint names it, or one of a built or untarred package whose
sources are the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.core.bundle import shipped
from packyard.core.errors import InputError, Problem
from packyard.core.files import regular
from packyard.writing.source import package
from packyard.writing.source.origin import Place
from packyard.writing.source.traced import Traced
from packyard.writing.source.workspace import Workspace


def show(file: str, line: int, here: Workspace, printed: Rows, form: str) -> int:
    """Print the line, the places that it comes from, and those of the setters in it."""
    name, path, text = _find(here, file)
    traced = Traced(here, package.read(here, name))
    composed = traced.text(path)
    stack = traced.at(path, line)
    lines = composed.split("\n") if composed is not None else []
    if not stack or line >= len(lines):
        problem = f"has {len(lines) - 1} lines" if stack else f"is not composed from the parts of {name}"
        raise InputError(Problem(problem, file=file, hint="name a YAML file of a use case, or of its options"))
    if text is not None and text.split("\n")[line - 1 : line] != [lines[line - 1]]:
        output.note(f"the sources compose this line to: {lines[line - 1].strip()}")
    named = [("", place) for place in stack] + list(traced.names(path, line))
    rows = [(place.file, place.line, place.column, setter) for setter, place in named]
    if printed.show(rows, form):
        _show(f"{file}:{line}: {lines[line - 1].strip()}", named)
    return 0


def _show(title: str, named: Sequence[tuple[str, Place]]) -> None:
    output.line(title)
    for number, (setter, place) in enumerate(named):
        role = f"{setter} by " if setter else "onto " if number else ""
        output.line(f"  {role}{place.file}:{place.line}:{place.column}")


def _find(here: Workspace, file: str) -> tuple[str, str, str | None]:
    """Return the package of a composed file, its path below the prefix, and its text where it is on disk."""
    owner = shipped.package_of(Path(file).parent) if Path(file).is_file() else None
    if owner:
        name, path = owner[1].name, os.path.relpath(os.path.realpath(file), owner[0])
    else:
        name, _, path = os.path.normpath(file).partition("/")
    if name not in here.package_names():
        hint = f"name a file of a built package, or NAME/{here.prefix}/…, as packyard lint does"
        raise InputError(Problem(f"is not a composed file of a package in {here.root_dir}", file=file, hint=hint))
    if not path.startswith(f"{here.prefix}/"):
        message = f"is not a file of a use case: those of {name} are composed to {name}/{here.prefix}/"
        raise InputError(Problem(message, file=file))
    text = regular.read(file).decode("utf-8", "replace") if owner else None
    return name, path.removeprefix(f"{here.prefix}/"), text
