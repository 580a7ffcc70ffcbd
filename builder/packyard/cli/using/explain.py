"""Show a setter: what it may be, and every field that it reaches, with file and line and the substitutions between.

packyard explain [DIR] NAME  a setter, of packyard setters DIR
packyard explain FILE:LINE   of a line of a composed file, which lines of the
                             sources made it

FILE is in a package that was built from the workspace here, or NAME/PREFIX/USE-CASE/FILE, as packyard lint names it.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from packyard.cli import directory, output, state, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle import address, shipped
from packyard.core.errors import InputError, Problem, UsageError, suggest
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.using.options import option_setters, usecases
from packyard.using.setters import refusal
from packyard.using.setters.definition import Setter
from packyard.using.setters.listing import Field, find_fields, list_setters
from packyard.using.setters.packages import all_below, read_krmfile, read_package
from packyard.using.setters.plan import made_of
from packyard.writing.source.workspace import Workspace

ROWS = Rows("definition", "file, line, name, value, set, setBy, fields (file, line, column, path, value, through)")
PLACES = Rows("place", "file, line, column, setter", "FILE:LINE")
#: A line of a file; names of setters have no colon before a number.
_PLACE = re.compile(r"(.+):([0-9]{1,9})", re.DOTALL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser, "NAME|FILE:LINE")
    workspaces.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain the setter in every package that has it, or a line of a composed file."""
    if len(arguments.words) == 1 and (place := _PLACE.fullmatch(arguments.words[0])):
        return _explain_line(place[1], int(place[2]), arguments)
    if arguments.workspace:
        raise UsageError("packyard explain: --workspace is for FILE:LINE; type packyard explain DIR NAME")
    root_dir, names = directory.split(arguments.words)
    if len(names) != 1:
        next_command = f"packyard setters {address.typed(root_dir)}"
        raise UsageError(f"packyard explain: expected one NAME, found {len(names)}; {next_command} lists them")
    (name,) = names
    tree = Tree(root_dir)
    state.tell_pending(tree)
    known_names: set[str] = set()
    explanation: Problem | None = None
    named: list[tuple[Setter, list[Field]]] = []
    packages = all_below(tree)
    if not packages:
        raise usecases.refusal(root_dir, "explain", names)
    for package in packages:
        files = read_package(tree, package)
        definitions = read_krmfile(files).definitions
        explanation = explanation or made_of(name, definitions, str(root_dir / package))
        setters = [listed.setter for listed in list_setters(files, definitions)]
        known_names |= {setter.name for setter in setters}
        named += [(setter, find_fields(files, name)) for setter in setters if setter.name == name]
        for option in option_setters.read_enabled(root_dir / package):
            known_names |= option.setters.keys()
            if name in option.setters:
                named.append((option.setters[name], find_fields(option.files, name)))
    once = {(setter.file, setter.line, *(field.file for field in fields)): (setter, fields) for setter, fields in named}
    named = list(once.values())
    if not named:
        hint = suggest(name, known_names) or f"packyard setters {address.typed(root_dir)} lists them"
        raise InputError(explanation or Problem(f"setter {name!r} is not found", file=str(root_dir), hint=hint))
    rows = [
        (each.file, each.line, name, each.shown, each.is_set, each.set_by or None, fields) for each, fields in named
    ]
    if ROWS.show(rows, arguments.output):
        for setter, fields in named:
            _show(setter, fields)
    return 0


def _show(setter: Setter, fields: list[Field]) -> None:
    output.line(f"{setter.file}:{setter.line}: {setter.name}: {' '.join(setter.description.split())}")
    allowed = refusal.describe(setter)
    lines = (
        ("value", setter.shown or "(empty)"),
        ("origin", _origin(setter)),
        ("shipped", setter.default or ""),
        ("allowed", allowed),
    )
    if pattern := setter.schema.get("pattern"):
        output.detail(f"  pattern  {pattern}")
    for label, text in lines:
        if text:
            output.line(f"  {label:<8} {text}")
    for field in fields:
        way = " -> ".join(field.through)
        place = f"{field.file}:{field.line}:{field.column}"
        output.line(f"  {place}: {field.path}: {field.value or '(empty)'}  [{way}]")


def _origin(setter: Setter) -> str:
    return f"set by {setter.set_by or 'you'}" if setter.is_set else "shipped"


def _explain_line(file: str, line: int, arguments: argparse.Namespace) -> int:
    """Print a line of a composed file, the places that it comes from, and those of the setters in it."""
    from packyard.writing.source import package as sources  # what composes takes long to import
    from packyard.writing.source.traced import Traced

    here = workspaces.find(arguments)
    name, path, text = _find(here, file)
    traced = Traced(here, sources.read(here, name))
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
    if PLACES.show(rows, arguments.output):
        output.line(f"{file}:{line}: {lines[line - 1].strip()}")
        for number, (setter, place) in enumerate(named):
            role = f"{setter} by " if setter else "onto " if number else ""
            output.line(f"  {role}{place.file}:{place.line}:{place.column}")
    return 0


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
