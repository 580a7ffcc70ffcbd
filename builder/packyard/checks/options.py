"""Faults of the options that a kustomization adds as components: two that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packyard.checks.finding import Finding, finding
from packyard.checks.parsed import findings
from packyard.errors import InputError
from packyard.source.enabling import rivals
from packyard.source.enabling.component import KUSTOMIZATION


def check(directory: Path) -> Iterator[Finding]:
    """Find what is wrong with the options in use of a directory on disk; of a shipped use case none is."""
    if not (directory / KUSTOMIZATION).is_file():
        return
    try:
        problems = rivals.check(directory)
    except InputError as error:
        yield from findings(error)
        return
    yield from (finding("contradicting-options", "error", problem) for problem in problems)
