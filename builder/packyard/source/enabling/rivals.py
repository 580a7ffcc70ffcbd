"""Options that cannot be in together: both change one place, so that neither could be taken out without the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem
from packyard.source.enabling import component, replaced
from packyard.source.enabling.component import KUSTOMIZATION, Component, Operation
from packyard.source.enabling.draft import Draft, unquoted
from packyard.source.option import DIRECTORY
from packyard.text.node import Item


def refuse_component(draft: Draft, name: str) -> None:
    """Refuse an option that kustomize adds as a component: it would be in twice."""
    for item, listed in _components(draft):
        if listed == name:
            message = f"option {name!r} is added here as a component"
            raise ConflictError(item.value.problem(message, "take that line out, then enable it"))


def refuse(draft: Draft, option: Component, others: Sequence[Component]) -> None:
    """Refuse an option that touches what another one touches, of those that are in, or that kustomize adds."""
    added = [other for _, name in _components(draft) if (other := _read(draft, name))]
    for other, way_out in (
        *((other, f"packyard disable DIR {other.name}") for other in others),
        *((other, f"take {other.folder} out of the components of {KUSTOMIZATION}") for other in added),
    ):
        problem = _meeting(draft, option, other)
        if problem:
            problem.hint = way_out
            raise ConflictError(problem)


def check(directory: Path) -> list[Problem]:
    """Name the components of a kustomization that touch what an option touches that is in, or is listed before them."""
    draft = Draft(directory)
    found = []
    before = [component.read(draft.tree, name) for name in replaced.read(draft)]
    for item, name in _components(draft):
        option = _read(draft, name)
        if option is None:
            continue
        for other in before:
            problem = _meeting(draft, option, other)
            if problem:
                found.append(item.value.problem(problem.message, "leave one of them out"))
        before.append(option)
    return found


def _components(draft: Draft) -> list[tuple[Item, str]]:
    """Return the options that the kustomization lists as components, with their place there."""
    start = f"{DIRECTORY}/"
    listed = [
        (item, unquoted(item.value).removeprefix("./").rstrip("/")) for item in draft.items(KUSTOMIZATION, "components")
    ]
    return [(item, path.removeprefix(start)) for item, path in listed if path.startswith(start)]


def _read(draft: Draft, name: str) -> Component | None:
    """Read an option that kustomize adds; None where only kustomize knows what it does, or it is not there."""
    try:
        return component.read(draft.tree, name)
    except InputError:
        return None


def _meeting(draft: Draft, option: Component, other: Component) -> Problem | None:
    """Return why two options cannot be in together, at the place of the first; nothing where they can."""
    mine = list(draft.places(option))
    for path, _, operation in mine:
        if path in other.resources:
            return operation.problem(f"option {option.name!r} changes {path}, a file that option {other.name!r} adds")
    for path, number, theirs in draft.places(other):
        for here, document, operation in mine:
            if (here, document) == (path, number) and _meet(operation, theirs):
                return operation.problem(
                    f"option {option.name!r} changes {operation.pointer} of {path}, and option {other.name!r} "
                    f"{theirs.pointer}: one could not be taken out without the other"
                )
    return None


def _meet(one: Operation, other: Operation) -> bool:
    """Whether two operations on one document change the same place, or move it."""
    if one.steps[-1] == other.steps[-1] == "-" and one.steps == other.steps:
        return False
    short, long = sorted((one.steps, other.steps), key=len)
    return long[: len(short)] == short or _shifts(one, other) or _shifts(other, one)


def _shifts(one: Operation, other: Operation) -> bool:
    """Whether one operation moves the parts of a list or mapping among which the other finds its place."""
    *parent, last = one.steps
    if not (one.name == "remove" or (one.name == "add" and last.isdigit())):
        return False
    if other.steps[: len(parent)] != tuple(parent) or len(other.steps) == len(parent):
        return False
    return other.name == "remove" or other.steps[len(parent)].isdigit()
