"""Completions of the last word of a command line: called by the script that `packyard completion` prints."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.cli import directory as directories
from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.cli.verbs import GROUPS, VERBS
from packyard.core.errors import PackyardError
from packyard.using.options import folder

if TYPE_CHECKING:
    from packyard.cli.parser import Parser

#: A verb's flags, each with the values to choose from: empty where any is possible, None where it takes none.
_Flags = Mapping[str, "Sequence[str] | None"]
#: Verbs whose word is a package of the source that all of them have (`preferences.source`).
_OF_SOURCE = ("get", "run", "show")
_OF_RUNS = ("status", "logs", "exec", "forward", "results", "undeploy", "history", "rollback")


def main(arguments: Sequence[str]) -> int:
    """Take the words after ``packyard``, the unfinished one last, and print its completions."""
    words = [_expanded(word) for word in (arguments[1:] if arguments[:1] == ["--"] else arguments)] or [""]
    try:
        fitting = {candidate for candidate in _candidates(words) if candidate.startswith(words[-1])}
    except (PackyardError, OSError):  # a package that cannot be read has no names to offer
        fitting = set()
    for candidate in sorted(fitting):
        if candidate.isprintable():
            output.line(candidate)
    return 0


def for_kubectl() -> int:
    """Complete the words of ``kubectl packyard``, in the form that kubectl asks its plug-ins for."""
    code = main(sys.argv[1:])
    output.line(":0")  # where nothing fits, files may
    output.flush()
    return code


def _expanded(word: str) -> str:
    """Return a word as the shell will pass it, without quotes and with ``~`` expanded as far as it is complete."""
    if word[:1] in ("'", '"'):
        word = word[1:].removesuffix(word[0])
    return os.path.expanduser(word) if word.startswith("~/") else word  # noqa: PTH111  # a text


def _candidates(words: list[str]) -> Iterator[str]:
    from packyard.cli.main import FLAGS

    while len(words) > 1 and words[0].startswith("-"):
        words = words[1:]
    is_help = words[0] == "help" and len(words) == 2
    if is_help:
        words = words[1:]
    if len(words) == 1:
        yield from (*VERBS, *((*GROUPS, "all") if is_help else ("help",)), *(FLAGS if words[0].startswith("-") else ()))
        return
    verb, *before = words[:-1]
    if verb not in VERBS:
        return
    flags = flags_of(VERBS[verb][0], verb, before)
    if words[-1].startswith("-"):
        name, equals, _ = words[-1].partition("=")
        yield from (f"{name}={choice}" for choice in flags.get(name) or ()) if equals else flags
        return
    if flags.get(words[-2]) is not None:
        yield from flags[words[-2]] or _values(verb, words[-2], before[:-1])
        return
    arguments = list(_arguments(before, flags))
    if verb in _OF_SOURCE:
        if not arguments:
            yield from _packages(before, words[-1], with_use_cases=verb != "get")
        return
    if verb in _OF_RUNS and (verb == "undeploy" or not arguments):
        yield from _runs(before)
    else:
        yield from _words(verb, arguments, words[-1])


def _packages(words: Sequence[str], start: str, *, with_use_cases: bool) -> Iterator[str]:
    """Yield the packages of the source that `get` would ask, or the use cases of one, without a long wait."""
    from packyard.cli import channels, preferences, use_cases, workspaces

    addresses = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
    addresses += [value for flag, value in itertools.pairwise(words) if flag == "--from"]
    source = preferences.source(addresses[-1] if addresses else None)
    package, slash, _ = start.partition("/")
    if slash and with_use_cases:
        name = package.partition("@")[0]
        paths = workspaces.paths(name) if source.is_carried else channels.paths(source.value, name)
        yield from (f"{package}/{path}" for path in use_cases.shortened(paths, paths))
    else:
        yield from workspaces.carried().package_names() if source.is_carried else channels.names(source.value, start)


def _runs(words: Sequence[str]) -> list[str]:
    """Return the runs on the cluster that kubectl's flags among the words name."""
    import argparse

    from packyard.cli.running import clusters
    from packyard.running.runs import kubectl, record

    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    clusters.add_arguments(parser)
    flags, _ = parser.parse_known_args(words)
    return record.read_names(kubectl.find(os.environ.get("PATH", ""), **vars(flags)))


def _values(verb: str, flag: str, before: Sequence[str]) -> Iterator[str]:
    """Yield the values of a flag that are names in the package."""
    if flag == "--unset":
        yield from directories.setters(_split(verb, before)[0])
    elif flag == "--preset":
        from packyard.core.bundle import shipped

        yield from shipped.presets(_split(verb, before)[0])


def flags_of(module: str, verb: str, before: Sequence[str]) -> _Flags:
    """Return the flags of a verb; for `cfg`, those of its command."""
    declaring = import_module(f"packyard.cli.{module}")
    if verb == "cfg":
        declared = declaring.flags_of(before[0]) if before and before[0] in declaring.COMMANDS else Declared()
        return {**_declared(declared), "--help": None}
    if hasattr(declaring, "FLAGS"):
        return _declared(declaring.FLAGS)
    return _parser(verb).flags()


def _parser(verb: str) -> Parser:
    from packyard.cli import parser

    return parser.make(import_module(f"packyard.cli.{VERBS[verb][0]}"), verb)


def _declared(flags: Declared) -> _Flags:
    names: dict[str, Sequence[str] | None] = {f"--{name}": None for name in flags.switches}
    names.update({f"--{name}": None if name in flags.bare else [*choices] for name, choices in flags.values.items()})
    names.update({f"-{letter}": names[f"--{name}"] for letter, name in flags.short.items()})
    return names


def _arguments(words: Sequence[str], flags: _Flags) -> Iterator[str]:
    """Yield the words that are neither flags nor values of flags."""
    value = False
    for word in words:
        if not word.startswith("-") and not value:
            yield word
        value = not value and flags.get(word) is not None


def _words(verb: str, before: list[str], word: str) -> Iterator[str]:
    if verb == "cfg":
        yield from _of_cfg(before, word)
    elif verb in ("set", "explain", "enable", "disable"):
        directory, words = _split(verb, before)
        if not before and not _is_package(directory):
            return  # it has to be a folder
        if verb == "set":
            yield from _assignments(directory, word, words)
        elif verb == "explain":
            yield from directories.setters(directory)
        else:
            yield from folder.names(directory)
    elif verb in ("build", "publish", "lint"):
        from packyard.writing.source import workspace

        here = workspace.find(Path())
        yield from here.package_names() if here else ()
    elif verb == "update":
        from packyard.writing.source import library, workspace

        root_dir = workspace.find_root(Path())
        yield from (each.name for each in library.entries(root_dir)) if root_dir else ()
    elif verb == "schema":
        from packyard.writing.source.schemas import NAMES

        yield from NAMES
    else:
        yield from _parser(verb).choices(len(before))


def _split(verb: str, before: Sequence[str]) -> tuple[Path, list[str]]:
    words = list(_arguments(before, {}))
    return directories.split(words, names=folder.names if verb in ("enable", "disable") else None)


def _is_package(directory: Path) -> bool:
    return any((directory / name).is_file() for name in ("Krmfile", "Kptfile"))


def _of_cfg(before: list[str], word: str) -> Iterator[str]:
    """Yield the commands; after a directory, the names that the command takes, then a setter's values."""
    from packyard.cli.cfg import COMMANDS

    if not before:
        yield from COMMANDS
    elif before[0] in ("set", "list-setters", "delete-setter") and len(before) == 2:
        yield from directories.setters(Path(before[1]))
    elif before[0] == "set" and len(before) > 2:
        yield from _assignments(Path(before[1]), word, before[2:])


def _assignments(directory: Path, word: str, before: list[str]) -> Iterator[str]:
    """Yield ``NAME=``; after ``NAME=``, or after a bare NAME, the values that its definition lists."""
    name, equals, _ = word.partition("=")
    values = directories.setters(directory)
    if equals:
        yield from (f"{name}={value}" for value in values.get(name, ()))
    elif before and "=" not in before[0]:
        yield from values.get(before[0], ())
    else:
        yield from (f"{name}=" for name in values)
