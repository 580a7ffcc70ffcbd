"""Options that cannot be in together: both change one place, so that neither could be taken out without the other."""

from __future__ import annotations

from packyard.errors import ConflictError
from packyard.source.enabling.component import KUSTOMIZATION, Component, Operation
from packyard.source.enabling.draft import Draft, unquoted


def refuse_component(draft: Draft, name: str) -> None:
    """Refuse an option that kustomize adds as a component: it would be in twice."""
    for item in draft.items(KUSTOMIZATION, "components"):
        if unquoted(item.value).removeprefix("./").rstrip("/") == f"options/{name}":
            message = f"option {name!r} is added here as a component"
            raise ConflictError(item.value.problem(message, "take that line out, then enable it"))


def refuse(draft: Draft, option: Component, others: list[Component]) -> None:
    """Refuse an option that touches what another one touches, of those that are in."""
    mine = list(draft.places(option))
    for other in others:
        for path, _, operation in mine:
            if path in other.resources:
                raise ConflictError(operation.problem(f"{path} is a file that option {other.name!r} added"))
        for path, number, theirs in draft.places(other):
            for here, document, operation in mine:
                if (here, document) == (path, number) and _meet(operation, theirs):
                    raise ConflictError(
                        operation.problem(
                            f"option {option.name!r} changes {operation.pointer} of {path}, and option "
                            f"{other.name!r}, which is enabled, {theirs.pointer}: one could not be taken out without "
                            "the other",
                            f"packyard disable DIR {other.name}",
                        )
                    )


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
