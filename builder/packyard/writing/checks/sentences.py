"""What use cases say of themselves: each has a sentence that says what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packyard.core.bundle.manifest import ShippedUseCase
from packyard.core.errors import Problem
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.source.package import Package

_MOST = 200  # characters: three lines of a terminal


def check(package: Package, described: Mapping[str, ShippedUseCase]) -> Iterator[Finding]:
    """Find use cases that say nothing, or no sentence; ``described`` are those of packyard.json by their keys."""
    for use_case in package.use_cases:
        said = next(item.description for key, item in described.items() if f"/{key}".endswith(f"/{use_case.path}"))
        if wrong := _wrong(said):
            hint = f"write `description:` here, or begin the kustomization of the base {use_case.base} with a comment"
            problem = Problem(f"useCases.{use_case.name}: {wrong}", file=package.file, line=use_case.line, hint=hint)
            yield finding("no-sentence", problem)


def _wrong(said: str) -> str:
    if not said:
        return "nothing says what this use case is for"
    if len(said) > _MOST:
        return f"its description has {len(said)} characters, more than {_MOST}"
    if said != " ".join(said.split()) or said[0].islower() or not said.endswith("."):
        return f"its description is not a sentence: {said!r}"
    return ""
