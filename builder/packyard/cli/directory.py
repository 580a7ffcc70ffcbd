"""DIR, which may be left out: the one rule of all verbs.

The first word is DIR if it is a folder, but for NAME=VALUE and for the name of a setter of the package here; else DIR
is ``.``. A word with a ``/`` is always DIR.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from packyard.errors import InputError, PackyardError, Problem, UsageError, suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from packyard.setters.definition import Setter

#: What --help says of it.
HELP = """\
DIR is the first word if it is a folder, else the folder here; a folder that is
called like a setter is ./NAME."""

_HERE = Path()
_KRMFILES = ("Krmfile", "Kptfile")


def add_arguments(parser: argparse.ArgumentParser, rest: str = "", help: str = "") -> None:
    """Declare DIR, and behind it what the usage calls ``rest``, as ``words``."""
    parser.usage = " ".join(filter(None, ("%(prog)s [DIR]", rest, "[flags]")))
    parser.epilog = "\n".join(filter(None, (help, HELP)))
    parser.add_argument("words", metavar="[DIR]", nargs="*", help="see below")


def split(
    words: Sequence[str], what: str = "a setter", names: Callable[[Path], Sequence[str]] | None = None
) -> tuple[Path, list[str]]:
    """Return DIR and the words behind it; a first word that can be neither is refused.

    ``names`` says which names may stand in the place of DIR, by default those of the setters here and below; ``what``
    is what they are names of.
    """
    first = words[0] if words else os.curdir
    if not words or "=" in first.partition("/")[0]:
        return _HERE, list(words)
    if os.path.isdir(first):  # noqa: PTH112  # not an empty text
        if names is None and "/" not in first and first not in (os.curdir, os.pardir) and _is_setter_here(first):
            if len(words) > 1 and "=" in words[1]:
                choice = f"type ./{first} for the folder, or {first}=VALUE for the setter"
                raise UsageError(f"{first} is a folder, and a setter of the package here; {choice}")
            return _HERE, list(words)
        return Path(first), list(words[1:])
    known = [] if "/" in first else _known(names or _setters_below)
    if first in known:
        return _HERE, list(words)
    where = f", nor {what} of the package here" if what else ""
    hint = suggest(first, known) or (f"its folder is {Path(first).parent}" if Path(first).exists() else "")
    raise InputError(Problem(f"is no directory{where}", file=first, hint=hint))


def only(words: Sequence[str], verb: str) -> Path:
    """Return the DIR of a verb that takes nothing else."""
    directory, rest = split(words, "", lambda _: ())
    if rest:
        hint = f"type packyard {verb} {directory}"
        raise UsageError(f"packyard {verb}: there is no place for {rest[0]!r} behind DIR; {hint}")
    return directory


def setters(directory: Path) -> dict[str, list[str]]:
    """Return the setters of a package, or of those below, in either spelling, each with the values that it lists."""
    from packyard.files.tree import Tree
    from packyard.options import values
    from packyard.setters.kpt.package import KptPackage
    from packyard.setters.packagefiles import read_krmfile
    from packyard.setters.packages import find_all, read_package

    tree = Tree(directory)
    found: dict[str, list[str]] = {}
    for package in find_all(tree):
        files = read_package(tree, package)
        for setter in read_krmfile(files).definitions.setters.values():
            found.setdefault(setter.name, []).extend(_listed(setter))
        for tagged, _ in KptPackage(files).setters() if files.kptfile is not None else ():
            found.setdefault(tagged.name, []).extend(_BOOLEANS.get(tagged.type, ()))
        for option in values.read_enabled(directory / package):
            for setter in option.setters.values():
                found.setdefault(setter.name, []).extend(_listed(setter))
    return found


def _listed(setter: Setter) -> list[str]:
    """Return the values that a definition lists."""
    listed = setter.schema.get("enum")
    choices = map(str, listed) if isinstance(listed, list) else ()
    return [*setter.enum_values, *choices, *_BOOLEANS.get(setter.type, ())]


#: What stands for a truth value, by the names that Krmfiles and kpt have for its type.
_BOOLEANS = dict.fromkeys(("boolean", "bool"), ("true", "false"))


def _setters_below(directory: Path) -> Sequence[str]:
    return list(setters(directory))


def _known(names: Callable[[Path], Sequence[str]]) -> Sequence[str]:
    try:
        return names(_HERE)
    except PackyardError:  # here is no package, or one that cannot be read
        return []


def _is_setter_here(word: str) -> bool:
    """Say whether the package here has a setter of this name; most folders are ruled out without parsing."""
    from packyard.files import regular

    for name in filter(os.path.isfile, _KRMFILES):
        try:
            if os.fsencode(word) in regular.read(name):
                return word in _known(_setters_below)
        except PackyardError:  # it cannot be read; if it is what is meant, the verb says so
            return False
    return False
