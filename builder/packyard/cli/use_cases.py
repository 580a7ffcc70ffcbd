"""The use cases that a command line names behind its package: ``PACKAGE/USECASE``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import wrap

from packyard.cli import output
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import InputError, Problem, suggest

#: What stands before the lines on a use case.
INDENT = "    "


def meant(manifest: Manifest, wanted: str) -> list[str]:
    """Return the paths that have the folders of ``wanted`` in them; without any, the error names those that exist."""
    paths = manifest.deployed()
    if fitting := [path for path in paths if f"/{wanted}/" in f"/{path}/" or not wanted]:
        return fitting
    short = shortened(paths, paths)
    hint = suggest(wanted, short) or f"it has {', '.join(short)}"
    raise InputError(Problem(f"{manifest.name} has no use case {wanted!r}", hint=hint))


def only(manifest: Manifest, wanted: str, named: str) -> str:
    """Return the path of the one use case that is `meant` of a package, which the user ``named`` so."""
    fitting = meant(manifest, wanted)
    if len(fitting) == 1:
        return fitting[0]
    problem = (
        f"{manifest.name}/{wanted} is more than one use case" if wanted else f"{manifest.name} has several use cases"
    )
    names = (f"{named}/{each}" for each in shortened(fitting, manifest.deployed()))
    raise InputError(Problem(problem, hint=f"name one: {', '.join(names)}"))


def names(manifest: Manifest) -> dict[str, str]:
    """Return the short name of each use case by its path, in the order of work."""
    paths = manifest.deployed()
    return dict(zip(paths, shortened(paths, paths), strict=True))


def lines(name: str, description: str) -> Sequence[str]:
    """Return the lines that say what a use case is for."""
    return (name, *sentence(description, INDENT))


def sentence(description: str, indent: str = "") -> Sequence[str]:
    """Return a sentence as the terminal has room for it."""
    return filled(description, indent, indent)


def filled(text: str, first: str, rest: str) -> list[str]:
    """Return the lines of a text between its words; ``first`` and ``rest`` are what they begin with."""
    room = min(output.size()[0], 100)
    return wrap(
        text, room, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def shortened(some: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return paths without the folders that all known ones begin with."""
    prefix = os.path.commonpath(known) if len(known) > 1 else ""
    return [os.path.relpath(path, prefix) if prefix else path for path in some]
