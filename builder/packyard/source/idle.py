"""Patches that reach nothing: what somebody wrote to change objects, and what changes none, is a slip.

A patch of a package has to reach an object in each use case that lists it, each of its operations in one of them. One
of a base or an overlay may be for some of the packages that use it: it is idle where none of their use cases has what
it is for. So each use case says what was `Idle` in it, and what all of them say is joined. What is left of that is
tried on all bases of the workspace, as one may wait for its first package.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packyard.errors import Problem
from packyard.text.node import Node

#: Line and column of a patch, or of an operation in it.
Place = tuple[int, int]
#: Stands for a patch as a whole.
WHOLE: Place = (1, 0)
#: For each patch that was applied, its file and what it selects: what of it reached nothing.
Idle = Mapping[tuple[str, str], frozenset[Place]]


def place(node: Node) -> Place:
    """Return where a node stands."""
    return node.source.locate(node.start)


def join(found: Iterable[Idle]) -> dict[tuple[str, str], frozenset[Place]]:
    """Return what is idle everywhere where its patch is applied."""
    joined: dict[tuple[str, str], frozenset[Place]] = {}
    for idle in found:
        for patch, places in idle.items():
            joined[patch] = places & joined.get(patch, places)
    return joined


def wholly(found: Iterable[Idle]) -> Idle:
    """Return the patches alone that reach nothing, each by itself."""
    return {patch: places for idle in found for patch, places in idle.items() if WHOLE in places}


def below(idle: Idle, root_dir: Path) -> Idle:
    """Return the same with files by their way from a workspace, wherever that lies."""
    root = os.path.realpath(root_dir)
    return {(os.path.relpath(file, root), selector): places for (file, selector), places in idle.items()}


def problems(idle: Idle, where: str, root_dir: Path | None = None) -> Iterator[Problem]:
    """Yield a fault for each patch that reaches nothing in what ``where`` says, or for its operations that do."""
    hint = "mend its target or its path, or take it away"
    for (name, selector), places in sorted(idle.items()):
        file = name if root_dir is None else str(root_dir / name)
        for line, column in [WHOLE] if WHOLE in places else sorted(places):
            message = f"{f'for {selector} ' if selector else ''}reaches nothing in {where}"
            yield Problem(message, file=file, line=line, column=column, hint=hint)


def document(idle: Idle) -> list[tuple[str, str, list[Place]]]:
    """Return JSON for `parse`."""
    return [(file, selector, sorted(places)) for (file, selector), places in sorted(idle.items())]


def parse(value: Any) -> Idle:
    """Read what `document` returned."""
    return {
        (str(file), str(selector)): frozenset((int(line), int(column)) for line, column in places)
        for file, selector, places in value
    }
