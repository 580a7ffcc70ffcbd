"""What use cases say of themselves: each has a sentence that says what it is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packyard.core.errors import Problem
from packyard.writing.checks.finding import Finding, finding

_MOST = 200  # characters: three lines of a terminal


class Purpose(NamedTuple):
    """What packyard.json says that a use case is for; its name in package.yaml, its base, and where that is written."""

    said: str
    name: str
    base: str
    file: str
    line: int


def check(purposes: Iterable[Purpose]) -> Iterator[Finding]:
    """Find use cases that say nothing, or no sentence."""
    for each in purposes:
        if wrong := _wrong(each.said):
            hint = f"write `description:` here, or begin the kustomization of the base {each.base} with a comment"
            problem = Problem(f"useCases.{each.name}: {wrong}", file=each.file, line=each.line, hint=hint)
            yield finding("no-sentence", problem)


def _wrong(said: str) -> str:
    if not said:
        return "nothing says what this use case is for"
    if len(said) > _MOST:
        return f"its description has {len(said)} characters, more than {_MOST}"
    if said != " ".join(said.split()) or said[0].islower() or not said.endswith("."):
        return f"its description is not a sentence: {said!r}"
    return ""
