"""Which use cases a directory holds, for those who name the directory of a package where a use case is wanted.

bert: is not a use case, but holds 2: quickstart/multi-node/user-mounted-nfs, quickstart/single-node/user-mounted-nfs
(name one: packyard set bert/quickstart/multi-node/user-mounted-nfs WORKERS=2)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from packyard.core.bundle import shipped
from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.using.options import folder as folders
from packyard.using.setters.packages import all_below

_MOST = 12  # named in a message


def below(directory: Path) -> list[str]:
    """Return the use cases below a directory, or else its packages, as paths from the working directory."""
    paths = list(folders.use_cases(directory)) or [f"{directory}/{path}" for path in all_below(Tree(directory))]
    return sorted(os.path.normpath(path) for path in paths)


def is_one(directory: Path) -> bool:
    """Say whether a directory has a kustomization of its own."""
    return bool(kustomization.there(directory))


def refusal(directory: Path, command: str, rest: Sequence[str] = (), *, all_by: str = "") -> InputError:
    """Return why a command needs another directory, with those that there are; ``all_by`` takes all of them."""
    use_cases = below(directory)
    if not use_cases:
        above = next((each for each in directory.resolve().parents if is_one(each)), None)
        hint = f"its use case is {os.path.relpath(above)}" if above else "name the directory of a package"
        return InputError(Problem("is not a use case, and holds none", file=str(directory), hint=hint))
    more = f" and {len(use_cases) - _MOST} more" if len(use_cases) > _MOST else ""
    number = f"{len(use_cases)}" if len(use_cases) > 1 else "one"
    listed = ", ".join(os.path.relpath(path, directory) for path in use_cases[:_MOST])
    message = f"is not a use case, but holds {number}: {listed}{more}"
    names = [name for name, equals, _ in (word.partition("=") for word in rest) if equals]
    fitting = (path for path in use_cases if all(name in shipped.values(Path(path)) for name in names))
    example = " ".join(("packyard", command, *map(quote, (next(fitting, use_cases[0]), *rest))))
    either = f", or add {all_by} for all" if all_by and len(use_cases) > 1 else ""
    return InputError(Problem(message, file=str(directory), hint=f"name one: {example}{either}"))


def check(directory: Path, command: str, rest: Sequence[str] = (), *, all_by: str = "") -> None:
    """Refuse a directory that is not a use case."""
    if directory.is_dir() and not is_one(directory):
        raise refusal(directory, command, rest, all_by=all_by)
