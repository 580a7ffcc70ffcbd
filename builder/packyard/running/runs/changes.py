"""What of a run cannot be changed any more, field by field: what its pods were made of, and what they have read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from packyard.core.errors import ConflictError, PackyardError, Problem, shown
from packyard.core.kubernetes import updates
from packyard.core.kubernetes.kinds import LASTING
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
#: How a server refuses to change a field: of which kind, and in which words.
_REFUSED = re.compile(
    r'(?:The )?(\w+)[.\w]* "[^"]*" is invalid: .*'
    r"(?:\bimmutable\b|updates to statefulset spec for fields other|pod updates may not change|cannot change roleRef)",
    re.DOTALL,
)
#: What stays where a run is deleted, so that it is in the way of another just as before.
_STAYING = ("Secret", *(kind for _, kind in LASTING))


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
        raise _in_the_way(last.run, [*faults[:_MOST], *more], hint)


def check_refusal(error: PackyardError, run: str, hint: str) -> None:
    """Raise `FixedError` where all that the server refused of a run are fields that only a new object can have."""
    refused = [_REFUSED.match(each.message) for each in error.problems]
    if all(match and match[1] not in _STAYING for match in refused):
        raise _in_the_way(run, error.problems, hint) from error


def _in_the_way(run: str, faults: Iterable[Problem | str], hint: str) -> FixedError:
    first = f"run {run} is there, with fields that cannot be changed any more"
    return FixedError(first, *faults, Problem("it stays as it is", hint=hint))


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
