"""Paths of fields in objects, as tests of packages name them: those of kustomize's replacements, also without dots.

spec.template.spec.containers[0].args      an index
spec.template.spec.containers[name=main]   the items of that name
spec.template.spec.containers[*].image     every item
metadata.annotations['example.com/a']      a key with dots in it, in quotes of either kind
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from packyard.core.errors import suggest
from packyard.using.kustomize import replacement

_FORM = re.compile(r"(?:[^\[\]]|\[[^\[\]]+\])*")
_BRACKET = re.compile(r"(?<=[^.])\[")


class AbsentError(Exception):
    """A path leads to nothing; the text says where it ends."""


def parse(text: str) -> Sequence[str] | None:
    """Read a path; None where it is none. The root is an empty text."""
    if not _FORM.fullmatch(text):
        return None
    steps = replacement.steps(_BRACKET.sub(".[", text)) if text else []
    return [step if "=" in step else step.strip("[]'\"") for step in steps]


def find(steps: Sequence[str], value: object, above: str = "it") -> Iterator[object]:
    """Yield all that a path leads to; raises `AbsentError`."""
    if not steps:
        yield value
        return
    for called, inner in _inner(steps[0], value, above):
        yield from find(steps[1:], inner, called)


def _inner(step: str, value: object, above: str) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        if step not in value:
            hint = suggest(step, map(str, value))
            raise AbsentError(f"{above} has no field {step!r}" + (f" ({hint})" if hint else ""))
        return [(step, value[step])]
    if not isinstance(value, list):
        raise AbsentError(f"{above} is {value!r}, and has nothing at {step!r}")
    key, equals, text = step.strip("[]").partition("=")
    items = [
        (f"{above}[{at}]", item)
        for at, item in enumerate(value)
        if step in ("*", str(at)) or (equals and isinstance(item, Mapping) and str(item.get(key)) == text)
    ]
    if not items:
        raise AbsentError(f"{above} has {len(value)} item{'s' * (len(value) != 1)}, and none is [{step.strip('[]')}]")
    return items
