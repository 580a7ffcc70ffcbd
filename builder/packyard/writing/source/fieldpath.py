"""Paths of fields in objects, as tests of packages name them.

spec.template.spec.containers[0].args      an index
spec.template.spec.containers[name=main]   the items of that name
spec.template.spec.containers[*].image     every item
metadata.annotations['example.com/a']      a key with dots in it, in quotes of either kind
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from packyard.core.errors import suggest

_Step = str | int | tuple[str, str]
_ALL = ("", "")
_STEP = re.compile(
    r"""(?:\A|\.)(?P<key>[^.\[\]'"]+) | \[(?P<index>[0-9]{1,9})\] | \[(?P<all>\*)\] | \[(['"])(?P<quoted>.+?)\4\]
      | \[(?P<field>[\w-]+)=(?P<value>[^\]]*)\]""",
    re.VERBOSE,
)


class AbsentError(Exception):
    """A path leads to nothing; the text says where it ends."""


def parse(text: str) -> Sequence[_Step] | None:
    """Read a path; None where it is none. The root is an empty text."""
    rest = text
    steps: list[_Step] = []
    while rest:
        match = _STEP.match(rest)
        if match is None:
            return None
        steps.append(_step(match))
        rest = rest[match.end() :]
        if steps and rest and rest[0] not in ".[":
            return None
    return steps


def _step(match: re.Match[str]) -> _Step:
    if match["index"]:
        return int(match["index"])
    if match["all"]:
        return _ALL
    return match["key"] or match["quoted"] or (match["field"], match["value"])


def find(steps: Sequence[_Step], value: object, above: str = "it") -> Iterator[object]:
    """Yield all that a path leads to; raises `AbsentError`."""
    if not steps:
        yield value
        return
    for called, inner in _inner(steps[0], value, above):
        yield from find(steps[1:], inner, called)


def _inner(step: _Step, value: object, above: str) -> list[tuple[str, object]]:
    if isinstance(step, str):
        if not isinstance(value, Mapping):
            raise AbsentError(f"{above} must be a mapping to have {step!r}, and is {_kind(value)}")
        if step not in value:
            hint = suggest(step, map(str, value))
            raise AbsentError(f"{above} has no field {step!r}" + (f" ({hint})" if hint else ""))
        return [(step, value[step])]
    if not isinstance(value, list):
        raise AbsentError(f"{above} must be a list, and is {_kind(value)}")
    items = [(f"{above}[{at}]", item) for at, item in enumerate(value)]
    if isinstance(step, int):
        matches, wanted = items[step : step + 1], f"[{step}]"
    elif step == _ALL:
        matches, wanted = items, "[*]"
    else:
        key, text = step
        matches = [(at, item) for at, item in items if isinstance(item, Mapping) and str(item.get(key)) == text]
        wanted = f"[{key}={text}]"
    if not matches:
        raise AbsentError(f"{above} has {len(items)} item{'s' * (len(items) != 1)}, and none is {wanted}")
    return matches


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, Mapping) else f"{value!r}"
