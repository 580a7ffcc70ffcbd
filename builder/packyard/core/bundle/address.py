"""The address of a use case, ``NAME/USECASE``: its package, and the shortest part of its path that no other has.

llm-serving/quickstart/mlops/several-nodes/user-allocated-pvc    llm-serving/several-nodes
"""

import os
import posixpath
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from packyard.core.bundle import delivery
from packyard.core.errors import InputError, PackyardError, Problem, suggest


def fits(known: Sequence[str], wanted: str) -> list[str]:
    """Return the paths that have the folders of ``wanted`` in them, one after the other; before them the one it is."""
    above = _above(known)
    if exact := [path for path in known if wanted in (path, path.removeprefix(above))]:
        return exact
    return [path for path in known if f"/{wanted}/" in f"/{path}/" or not wanted]


def meant(known: Sequence[str], wanted: str, package: str) -> list[str]:
    """Return those use cases of a package, as the user named it, that fit; without any, the error names the nearest."""
    if fitting := fits(known, wanted):
        return fitting
    short = shortened(known).values()
    hint = suggest(wanted, short, before=f"{package}/") or f"it has {', '.join(short)}"
    raise InputError(Problem(f"{package} has no use case {wanted!r}", hint=hint))


def only(known: Sequence[str], wanted: str, package: str) -> str:
    """Return the one use case that is `meant`."""
    fitting = meant(known, wanted, package)
    if len(fitting) == 1:
        return fitting[0]
    problem = f"{package}/{wanted} is more than one use case" if wanted else f"{package} has several use cases"
    names = (f"{package}/{short}" for path, short in shortened(known).items() if path in fitting)
    raise InputError(Problem(problem, hint=f"name one: {', '.join(names)}"))


def shortened(known: Sequence[str]) -> dict[str, str]:
    """Return the shortest name of each use case of a package by its path: without folders that tell them not apart."""
    return {path: _shortest(path, known) for path in known}


def _shortest(path: str, known: Sequence[str]) -> str:
    folders = path.removeprefix(_above(known)).split("/")
    names = ("/".join(folders[:count]) for count in range(1, len(folders) + 1))
    return next((name for name in names if fits(known, name) == [path]), path)


def _above(known: Sequence[str]) -> str:
    """Return the beginning of all paths of use cases; their name is not in it where they differ by storage alone."""
    folders = {*map(posixpath.dirname, known)}
    common = posixpath.commonpath(folders) if folders else ""
    common = (posixpath.dirname(common) if len(folders) == 1 else "") or common  # no path is without a prefix
    return common and f"{common}/"


def of(directory: Path, packages: delivery.Packages | None = None) -> str:
    """Return the address of a use case, as the user named its package; another directory is its path."""
    own, known = _own(directory, packages)
    words = str(directory)
    if own not in known or not f"/{words}".endswith(f"/{own}"):  # from inside, what was typed is the shorter address
        return words
    top = words.removesuffix(own)
    return f"{top}{shortened(known)[own]}" if len(known) > 1 else top.rstrip("/") or words


def shown(directory: Path, packages: delivery.Packages | None = None) -> str:
    """Return how people read of a folder: a use case by its address, another one without what is above all of them."""
    packages = {} if packages is None else packages
    own, known = _own(directory, packages)
    words = of(directory, packages)
    return words.removesuffix(own) + own.removeprefix(_above(known)) if words.endswith(f"/{own}") else words


def _own(directory: Path, packages: delivery.Packages | None) -> tuple[str, Sequence[str]]:
    """Return the path of a folder in its package, and the use cases of that; nothing of one that is in no package."""
    try:
        root, manifest = delivery.package_of(directory, packages) or ("", None)
    except PackyardError:  # its packyard.json is damaged, which others say
        manifest = None
    return (os.path.relpath(os.path.realpath(directory), root), manifest.deployed()) if manifest else ("", ())


def in_order(paths: Sequence[str], top: Path = Path()) -> list[str]:
    """Return paths below a folder by their packages, and use cases in the order of work, which is package.yaml's."""
    packages: delivery.Packages = {}

    def place(path: str) -> tuple[str, int, str]:
        own, known = _own(top / path, packages)
        return path.removesuffix(own), known.index(own) if own in known else len(known), path

    return sorted(paths, key=place) if len(paths) > 1 else [*paths]


def typed(directory: str | Path) -> str:
    """Return the address of a use case for a command, quoted for a shell."""
    return quote(of(Path(directory or ".")))
