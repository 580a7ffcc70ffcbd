"""What of a run cannot be changed any more, field by field: what its pods were made of, and what they have read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from packyard.core.errors import ConflictError, Problem, shown
from packyard.core.kubernetes import updates
from packyard.core.yaml import aliases
from packyard.core.yaml.node import Node, Source
from packyard.core.yaml.values import NEEDS_ESCAPES
from packyard.running.runs import concealed
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object, Reference
from packyard.using.upgrade import field_changes
from packyard.using.upgrade.field_changes import FieldDifference


class FixedError(ConflictError):
    """A run is there whose fields can no longer be changed: another has to take its place, or stand beside it."""


_MOST = 12  # fields that a refusal names


def check(last: RunRecord, objects: Mapping[Reference, Object], namespace: str, hint: str) -> None:
    """Refuse what is to change in objects that are on the cluster since the last time, and no longer can.

    They are as they would be recorded, without secrets.
    """
    before = {Reference.of(item, namespace): item for item in concealed.split(last.read_objects())[0]}
    beside_run = any(updates.runs_once(each.group_kind) for each in objects)
    faults = [
        f"{reference}: {text}"
        for reference, item in objects.items()
        if reference in before
        for text in _fixed(reference, before[reference], item, beside_run=beside_run)
    ]
    if faults:
        more = [f"and {len(faults) - _MOST} more fields"] if len(faults) > _MOST else []
        last_words = Problem("it stays as it is", hint=hint)
        raise FixedError(
            f"run {last.run} is there, with fields that cannot be changed any more", *faults[:_MOST], *more, last_words
        )


def _fixed(reference: Reference, before: Object, after: Object, *, beside_run: bool) -> Iterator[str]:
    differences = {each.path: each for each in field_changes.compare(_node(before), _node(after), {})}
    verb = "cannot be changed" if updates.runs_once(reference.group_kind) else "was read by its pods at their start"
    for path in updates.fixed(reference.group_kind, differences, beside_run=beside_run):
        yield f"{path} {verb}: {_values(differences[path])}"


def _values(difference: FieldDifference) -> str:
    before, after = (
        value if isinstance(value, str) else json.dumps(value) for value in (difference.before, difference.after)
    )
    if difference.change in ("added", "removed"):
        return f"{shown(after if difference.change == 'added' else before)} is {difference.change}"
    return f"{shown(before)} -> {shown(after)}"


def _node(item: Object) -> Node:
    text = NEEDS_ESCAPES.sub(lambda match: json.dumps(match.group())[1:-1], json.dumps(item, ensure_ascii=False))
    (document,) = aliases.read(Source("", text))
    assert document.root is not None
    return document.root
