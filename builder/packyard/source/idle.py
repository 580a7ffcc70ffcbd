"""Patches that reach nothing: what somebody wrote to change objects, and what changes none, is a slip.

A patch of a package has to reach an object in each use case that lists it. One of a base, an overlay or an option may
be for some of the packages that use it: it is idle where no use case of any of them has what it is for. So each use
case says what was `Idle` in it, and what all of them say is joined.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packyard.errors import Problem

#: For each patch that was applied, its file and what it selects: whether it reached nothing.
Idle = Mapping[tuple[str, str], bool]


def join(found: Iterable[Idle]) -> dict[tuple[str, str], bool]:
    """Return what is idle everywhere where its patch is applied."""
    joined: dict[tuple[str, str], bool] = {}
    for idle in found:
        for patch, nothing in idle.items():
            joined[patch] = nothing and joined.get(patch, True)
    return joined


def below(idle: Idle, root_dir: Path) -> Idle:
    """Return the same with files by their way from a workspace, wherever that lies."""
    root = os.path.realpath(root_dir)
    return {(os.path.relpath(file, root), selector): nothing for (file, selector), nothing in idle.items()}


def problems(idle: Idle, where: str, root_dir: Path | None = None) -> Iterator[Problem]:
    """Yield a fault for each patch that reaches nothing in what ``where`` says."""
    for (name, selector), nothing in sorted(idle.items()):
        if nothing:
            file = name if root_dir is None else str(root_dir / name)
            message = f"{f'for {selector} ' if selector else ''}reaches nothing in {where}"
            yield Problem(message, file=file, line=1, hint="mend its target, or take it away")


def document(idle: Idle) -> list[tuple[str, str, bool]]:
    """Return JSON for `parse`."""
    return [(file, selector, nothing) for (file, selector), nothing in sorted(idle.items())]


def parse(value: Any) -> Idle:
    """Read what `document` returned."""
    return {(str(file), str(selector)): bool(nothing) for file, selector, nothing in value}
