"""Giving the tagged fields of objects new values: the edits, and what each field showed and shows now.

This is what kpt's apply-setters does: a field is set if its pattern has a name that is given; names that are not given
keep what they stand for in the field now.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from packyard.errors import InputError, Problem, refuse
from packyard.kubernetes.fieldtypes import field_type
from packyard.setters.fields import path_text
from packyard.setters.kpt import rewrite
from packyard.setters.kpt.pattern import Pattern
from packyard.setters.kpt.tagged import Tagged, find
from packyard.yaml.edit import Edit
from packyard.yaml.node import MappingNode, Node, Scalar
from packyard.yaml.scalar import double_quoted


@dataclass(frozen=True, slots=True)
class Setting:
    """One field that was given a value, which may be the one that it had; a list's texts are in brackets."""

    path: str
    pattern: Pattern
    node: Node
    old: str
    new: str
    emptied: bool = False  # a list that had a line for each item and has none now


@dataclass(frozen=True, slots=True)
class Applied:
    """The edits to an object's text, and its settings in kpt's order: lists before what is below."""

    edits: tuple[Edit, ...]
    settings: tuple[Setting, ...]


def apply(
    root: Node | None,
    given: Mapping[str, str],
    *,
    known: Mapping[str, str] | None = None,
    keep_types: bool = False,
) -> Applied:
    """Set every field below ``root`` whose pattern has one of the ``given`` names.

    ``known`` are values for other names of those patterns; without one a name keeps its text in the field.
    ``keep_types`` lets text stay text where kpt lets it become a number. Raises `InputError` with every fault.
    """
    values = {**(known or {}), **given}
    edits: list[Edit] = []
    settings: list[Setting] = []
    problems: list[Problem] = []
    replaced: list[tuple[int, int]] = []  # the spans of lists, in the order of the text
    for field in find(root):
        before = bisect_left(replaced, (field.node.start + 1, 0))
        inside = before > 0 and field.node.start < replaced[before - 1][1]
        if inside or not field.pattern.uses(given):
            continue
        try:
            if isinstance(field.node, Scalar):
                text = field.pattern.expand(values, field.node.value)
                edits += _scalar(root, field, field.node, text, keep_types)
                settings.append(Setting(path_text(field.path), field.pattern, field.node, field.node.value, text))
            else:
                setting, found = _list(field, given)
                settings.append(setting)
                edits += found
                replaced.insert(before, (field.node.start, field.node.end))
        except InputError as error:
            problems += (_placed(field, problem) for problem in error.problems)
    refuse(problems)
    return Applied(tuple(edits), tuple(settings))


def _scalar(root: Node | None, field: Tagged, old: Scalar, text: str, keep_types: bool) -> list[Edit]:
    known = None
    if isinstance(root, MappingNode):
        known = field_type(root.text("apiVersion"), root.text("kind"), field.path)
    return rewrite.scalar(old, text, known=known, flow=field.flow, keep_type=keep_types)


def _list(field: Tagged, given: Mapping[str, str]) -> tuple[Setting, list[Edit]]:
    name = field.pattern.sole_name
    if name is None:
        raise InputError(f"invalid setter pattern for array node: {double_quoted(field.pattern.text)}")
    new = rewrite.parse_list(given[name])
    assert not isinstance(field.node, Scalar)
    emptied = new is None and not field.node.flow
    old = rewrite.flow_text(field.node)
    setting = Setting(path_text(field.path), field.pattern, field.node, old, given[name], emptied)
    return setting, rewrite.sequence(field, new)


def _placed(field: Tagged, problem: Problem) -> Problem:
    """Say where, and keep what: kpt's own words."""
    return field.node.problem(problem.message, problem.hint)
