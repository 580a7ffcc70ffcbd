"""What may stand in the place of the last word: called by the code that `packyard completion` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from packyard.errors import PackyardError

_SHELLS = ("bash", "zsh")
#: What stands for a truth value, by the names that Krmfiles and kpt have for its type.
_BOOLEANS = dict.fromkeys(("boolean", "bool"), ("true", "false"))


def main(arguments: Sequence[str]) -> int:
    """Take the words behind ``packyard``, the unfinished one last, and print what may stand there."""
    words = list(arguments[1:] if arguments[:1] == ["--"] else arguments) or [""]
    try:
        found = [candidate for candidate in _candidates(words) if candidate.startswith(words[-1])]
    except PackyardError:  # a package that cannot be read has no names to offer
        found = []
    print("\n".join(sorted(set(found))))
    return 0


def _candidates(words: list[str]) -> Iterator[str]:
    if len(words) == 1:
        from packyard.cli.main import VERBS

        yield from VERBS
        return
    verb, *before = [word for word in words[:-1] if not word.startswith("-")]
    if verb == "cfg":
        yield from _of_cfg(before, words[-1])
    elif verb == "set" and words[-2] == "--unset":
        yield from _setters(before[0]) if before else ()
    elif verb == "set" and before:
        yield from _assignments(before[0], words[-1], before[1:])
    elif verb == "explain" and before:
        yield from _setters(before[0])
    elif verb in ("enable", "disable") and before:
        yield from _options(before[0])
    elif verb in ("get", "build", "publish"):
        from packyard.source import workspace

        yield from (workspace.find(Path.cwd()) or workspace.built_in()).package_names()
    elif verb == "completion":
        yield from _SHELLS


def _of_cfg(before: list[str], word: str) -> Iterator[str]:
    """Offer the commands; behind a directory the names that a command can take, then a setter's values."""
    from packyard.cli.cfg import COMMANDS

    if not before:
        yield from COMMANDS
    elif before[0] in ("set", "list-setters", "delete-setter") and len(before) == 2:
        yield from _setters(before[1])
    elif before[0] == "set" and len(before) > 2:
        yield from _assignments(before[1], word, before[2:])


def _assignments(directory: str, word: str, before: list[str]) -> Iterator[str]:
    """Offer ``NAME=``; behind ``NAME=``, or behind a bare NAME, the values that its definition lists."""
    name, equals, _ = word.partition("=")
    values = _setters(directory)
    if equals:
        yield from (f"{name}={value}" for value in values.get(name, ()))
    elif before and "=" not in before[0]:
        yield from values.get(before[0], ())
    else:
        yield from (f"{name}=" for name in values)


def _options(directory: str) -> list[str]:
    from packyard.files.tree import Tree
    from packyard.source.enabling import component

    return component.names(Tree(Path(directory)))


def _setters(directory: str) -> dict[str, list[str]]:
    """Return the setters of a package, or of those below, in either spelling, each with the values that it lists."""
    from packyard.files.tree import Tree
    from packyard.setters.directory import find_all, read_package
    from packyard.setters.kpt.package import KptPackage
    from packyard.setters.packagefiles import read_krmfile

    tree = Tree(Path(directory))
    found: dict[str, list[str]] = {}
    for package in find_all(tree):
        files = read_package(tree, package)
        for setter in read_krmfile(files).definitions.setters.values():
            listed = setter.schema.get("enum")
            values = [*setter.enum_values, *(map(str, listed) if isinstance(listed, list) else ())]
            found.setdefault(setter.name, []).extend((*values, *_BOOLEANS.get(setter.type, ())))
        for tagged, _ in KptPackage(files).setters() if files.kptfile is not None else ():
            found.setdefault(tagged.name, []).extend(_BOOLEANS.get(tagged.type, ()))
    return found
