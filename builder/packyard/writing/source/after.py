"""What runs before a use case: ``after`` of package.yaml names other use cases of its package.

    one-node: {base: model-server, storage: [pvc], after: [staging]}
    staging: {base: model-staging, storage: [pvc], after: [claim]}
    claim: {base: claim}                                              ->  one-node/pvc: claim, staging/pvc

A name means the use case with the same storage, or the one that has none. Where there is neither it means nothing for
this use case; it has to mean something for one of its storages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from packyard.core.errors import suggest
from packyard.core.yaml.fields import Fields


class Place(NamedTuple):
    """Where a use case stands: its name in package.yaml, its storage, empty where it has none, and its path."""

    name: str
    storage: str
    path: str


#: For each name of ``useCases``, the names that its ``after`` has.
Names = Mapping[str, Sequence[str]]


def check(entries: Mapping[str, Fields], after: Names) -> None:
    """Note names that are not there, and use cases that would run before themselves."""
    for name, fields in entries.items():
        node = fields.node.get("after") if fields.node else None
        for other in after[name]:
            if other not in entries:
                hint = suggest(other, [each for each in entries if each != name])
                fields.fault(node, "after", f"there is no use case {other!r}", hint)
        circle = _circle(name, after)
        if circle and name == min(circle):  # once, not from each of its use cases
            message = f"{name} would run before itself: {' after '.join([*circle, name])}"
            fields.fault(node, "after", message, "take one of them out")


def _circle(start: str, after: Names) -> list[str]:
    """Return the shortest way from a use case back to itself, or nothing."""
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for name in after.get(way[-1], ()):
            if name == start:
                return way
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


def check_storages(entries: Mapping[str, Fields], places: Sequence[Place], after: Names) -> None:
    """Note names that have no storage in common with the use case that they run before."""
    storages: dict[str, set[str]] = {}
    for place in places:
        storages.setdefault(place.name, set()).add(place.storage)
    for name, fields in entries.items():
        for other in after[name]:
            if not storages[other] & {"", *storages[name]}:
                node = fields.node.get("after") if fields.node else None
                has = f"{other} has the storages {', '.join(sorted(storages[other]))}"
                fields.fault(node, "after", f"{has}, and {name} none of them", "give both the same storage")


def paths(place: Place, places: Sequence[Place], after: Names) -> tuple[str, ...]:
    """Return the paths of the use cases that run before one, in the order of work; ``after`` has no circle."""
    by_name: dict[str, list[Place]] = {}
    for item in places:
        by_name.setdefault(item.name, []).append(item)

    def before(later: Place) -> Iterator[str]:
        for name in after[later.name]:
            for other in by_name[name]:
                if other.storage in ("", later.storage):
                    yield from before(other)
                    yield other.path

    return tuple(dict.fromkeys(before(place)))
