"""Patches that reach no object, which are mistakes of their authors.

A patch of a package must reach an object in each use case that lists it, which composing asks.
One of a base, an overlay or an option may be for some of the packages that use it: it is idle where it reaches nothing
in any use case of any of them. So each use case says what was `Idle` in it, and what all of them say is joined.
"""

from collections.abc import Iterable, Iterator, Mapping

from packyard.core.errors import Problem
from packyard.core.yaml.sources import Sources

#: For each patch that was applied, its file, its line there (of an inline one) and what it selects: whether it reached
#: nothing.
Idle = Mapping[tuple[str, int, str], bool]


def join(idles: Iterable[Idle]) -> dict[tuple[str, int, str], bool]:
    """Return what is idle everywhere where its patch is applied."""
    joined: dict[tuple[str, int, str], bool] = {}
    for idle in idles:
        for patch, nothing in idle.items():
            joined[patch] = nothing and joined.get(patch, True)
    return joined


def problems(idle: Idle, where: str, sources: Sources) -> Iterator[Problem]:
    """Yield a fault for each patch that reaches nothing in what ``where`` says."""
    for (name, line, selector), nothing in sorted(idle.items()):
        if nothing:
            message = f"the patch changes nothing in {where}{f': it is for {selector}' if selector else ''}"
            hint = "correct what it is for, or remove it"
            yield Problem(message, file=sources.shown(name), line=line or 1, hint=hint)
