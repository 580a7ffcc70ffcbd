"""Faults of rules between setters: what cannot be read, what never holds, what the values break."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import InputError
from packyard.using.setters.rules.review import review
from packyard.using.setters.rules.rule import Rule, read
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.parsed import Parsed


def sound(parsed: Parsed) -> list[Rule]:
    """Return the rules of a package, or none where one cannot be read, which `check` reports."""
    try:
        return read(parsed.krmfile.root) if parsed.krmfile else []
    except InputError:
        return []


def check(parsed: Parsed, *, shipped: bool) -> Iterator[Finding]:
    """Find what is wrong with a package's rules."""
    if parsed.krmfile is None:
        return
    try:
        rules = read(parsed.krmfile.root)
    except InputError as error:
        yield from (finding("invalid-rule", problem) for problem in error.problems)
        return
    for rule in rules:
        for name, problem in review(rule, parsed.krmfile.definitions.setters, shipped=shipped):
            yield finding(name, problem)
