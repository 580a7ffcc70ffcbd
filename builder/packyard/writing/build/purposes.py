"""Lint of what use cases say of themselves: each has a sentence that says what it is for."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import Problem
from packyard.writing.build.draft import Draft
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace

_MOST = 200  # characters: three lines of a terminal


def check(here: Workspace, package: Package, draft: Draft) -> Iterator[Finding]:
    """Find use cases of a package that say nothing, or no sentence."""
    for use_case in package.use_cases:
        if wrong := _wrong(draft.manifest.use_cases[f"{here.prefix}/{use_case.path}"].description):
            hint = f"write `description:` here, or begin the kustomization of the base {use_case.base} with a comment"
            problem = Problem(f"useCases.{use_case.name}: {wrong}", file=package.file, line=use_case.line, hint=hint)
            yield finding("no-sentence", problem)


def _wrong(description: str) -> str:
    if not description:
        return "nothing says what this use case is for"
    if len(description) > _MOST:
        return f"its description has {len(description)} characters, more than {_MOST}"
    if description != " ".join(description.split()) or description[0].islower() or not description.endswith("."):
        return f"its description is not a sentence: {description!r}"
    return ""
