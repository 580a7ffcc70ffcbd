"""What may stand in the place of the last word: called by the code that `packyard completion` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from packyard.errors import PackyardError

_SHELLS = ("bash", "zsh")


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
    if verb == "set" and before:
        yield from _names(Path(before[0]), words[-1], before[1:])
    elif verb == "explain" and before:
        yield from (name.removesuffix("=") for name in _names(Path(before[0]), "", []))
    elif verb in ("get", "build", "publish"):
        from packyard.source import workspace

        yield from (workspace.find(Path.cwd()) or workspace.built_in()).package_names()
    elif verb == "completion":
        yield from _SHELLS


def _names(directory: Path, word: str, before: list[str]) -> Iterator[str]:
    """Offer setter names; behind ``NAME=``, or behind a bare NAME, the values that its definition lists."""
    from packyard.setters.directory import find_packages, read_package
    from packyard.setters.plan import read_krmfile
    from packyard.text.tree import Tree

    tree = Tree(directory)
    recursive = not (directory / "Krmfile").exists()
    name, equals, _ = word.partition("=")
    for package in find_packages(tree, recursive=recursive):
        for setter in read_krmfile(read_package(tree, package)).definitions.setters.values():
            listed = setter.schema.get("enum")
            values = [*setter.enum_values, *(map(str, listed) if isinstance(listed, list) else ())]
            values += ["true", "false"] if setter.type == "boolean" else []
            if equals:
                yield from (f"{name}={value}" for value in values if setter.name == name)
            elif before and "=" not in before[0]:
                yield from (value for value in values if setter.name == before[0])
            else:
                yield setter.name + "="
