"""A site's file: what the packages that are used there are set to, and the options that they get.

    options: [queue]
    values:
      PVC_NAME: team-data
      USER_ID: 1200

It may name setters and options that one package does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, refuse, suggest
from packyard.core.yaml.document import parse_one
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import is_null
from packyard.using.setters import valuesfile
from packyard.using.setters.valuesfile import Given

FILE = "site.yaml"
_KEYS = ("options", "values")


@dataclass(frozen=True, slots=True)
class Site:
    """What the file says: the values of setters, and options, each with its place."""

    values: Mapping[str, Given]
    options: Mapping[str, Scalar]


def parse(data: bytes, file: str) -> Site:
    """Read a site's file; everything that is wrong with it is raised together."""
    root = parse_one(data, file).root
    if not isinstance(root, MappingNode):
        raise InputError(Problem("must be a mapping with options and values", file=file, line=1))
    problems = [
        entry.key.problem(
            f"{entry.name} is not a known key", suggest(entry.name, _KEYS) or "setters stand below `values`"
        )
        for entry in root.entries
        if entry.name not in _KEYS
    ]
    options: dict[str, Scalar] = {}
    values: dict[str, Given] = {}
    try:
        options = _options(root.get("options"))
    except InputError as error:
        problems += error.problems
    try:
        values = _values(root.get("values"), file)
    except InputError as error:
        problems += error.problems
    refuse(problems)
    return Site(values, options)


def _values(node: Node | None, file: str) -> dict[str, Given]:
    if node is None or is_null(node):
        return {}
    if not isinstance(node, MappingNode):
        raise InputError(node.problem("values must be a mapping of names to values"))
    return valuesfile.read(node, file)


def _options(node: Node | None) -> dict[str, Scalar]:
    if node is None or is_null(node):
        return {}
    if not isinstance(node, SequenceNode):
        raise InputError(node.problem("options must be a list of names"))
    problems = []
    options: dict[str, Scalar] = {}
    for item in node.items:
        if not isinstance(item.value, Scalar) or is_null(item.value):
            problems.append(item.value.problem("an option must be a name"))
        elif item.value.value in options:
            problems.append(item.value.problem(f"option {item.value.value!r} is listed twice"))
        else:
            options[item.value.value] = item.value
    refuse(problems)
    return options
