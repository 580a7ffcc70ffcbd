"""What runs before a use case: ``after`` of package.yaml names other use cases of its package.

    one-node: {base: model-server, storage: [pvc], after: [staging]}
    staging: {base: model-staging, storage: [pvc], after: [claim]}
    claim: {base: claim}                                              ->  one-node/pvc: claim, staging/pvc

A name means the use case with the same storage, or the one that has none. Where there is neither, and both were given a
storage in common, it means nothing for this one; otherwise it means all its storages, of which one does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from packyard.core.errors import suggest
from packyard.core.yaml.fields import Fields

if TYPE_CHECKING:
    from packyard.writing.source.package import UseCase

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


def paths(use_case: UseCase, use_cases: Sequence[UseCase], after: Names) -> tuple[str, ...]:
    """Return the paths of the use cases that run before one, in the order of work; ``after`` has no circle."""
    by_name: dict[str, list[UseCase]] = {}
    for each in use_cases:
        by_name.setdefault(each.name, []).append(each)

    def before(each: UseCase) -> Iterator[str]:
        for name in after[each.name]:
            for other in _meant(each, by_name[each.name], by_name[name]):
                yield from before(other)
                yield other.path

    return tuple(dict.fromkeys(before(use_case)))


def _meant(use_case: UseCase, alike: Sequence[UseCase], named: Sequence[UseCase]) -> Sequence[UseCase]:
    """Return the use cases of a name that are meant for ``use_case``; ``alike`` are those of its own name."""
    fitting = [each for each in named if each.storage in ("", use_case.storage)]
    in_common = {each.storage for each in alike} & {each.storage for each in named}
    return fitting if fitting or in_common else named
