"""Completions of the last word of a command line: called by the script that `packyard completion` prints."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from packyard.cli import directory as directories
from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.cli.verbs import VERBS
from packyard.core.errors import PackyardError
from packyard.using.options import folder

#: A verb's flags, each with the values to choose from: empty where any is possible, None where it takes none.
_Flags = Mapping[str, "Sequence[str] | None"]
#: Verbs whose word is a package of the source that all of them have (`preferences.source`).
_OF_SOURCE = ("get", "run", "show")
_OF_RUNS = ("status", "logs", "exec", "forward", "results", "undeploy", "rollback")


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
    if len(words) == 1 or words[:-1] == ["help"]:
        yield from (*VERBS, *(FLAGS if words[0].startswith("-") else ["all"] if words[1:] else ["help"]))
    elif words[0] in VERBS:
        yield from _of_verb(words[0], words[1:-1], words[-1])


def _of_verb(verb: str, before: list[str], word: str) -> Iterator[str]:
    flags = flags_of(verb, before)
    name, equals, _ = word.partition("=")
    if word.startswith("-"):
        yield from (f"{name}={choice}" for choice in flags.get(name) or ()) if equals else flags
        return
    if before and flags.get(before[-1]) is not None:
        yield from flags[before[-1]] or _values(before[-1], before[:-1])
        return
    arguments = list(_arguments(before, flags))
    if verb in _OF_SOURCE:
        yield from () if arguments else _packages(before, word, with_use_cases=verb != "get")
    elif verb in _OF_RUNS:
        yield from _runs(before) if verb == "undeploy" or not arguments else ()
    else:
        yield from _words(verb, arguments, word)


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


def _values(flag: str, before: Sequence[str]) -> Iterator[str]:
    """Yield the values of a flag that are names in the package."""
    directory, _ = directories.split(list(_arguments(before, {})))
    if flag == "--unset":
        yield from directories.setters(directory)


def flags_of(verb: str, before: Sequence[str]) -> _Flags:
    """Return the flags of a verb; for `cfg`, those of its command."""
    module = import_module(f"packyard.cli.{VERBS[verb][0]}")
    if verb == "cfg":
        declared = module.flags_of(before[0]) if before and before[0] in module.COMMANDS else Declared()
        return {**_declared(declared), "--help": None}
    if hasattr(module, "FLAGS"):
        return _declared(module.FLAGS)
    from packyard.cli import parser

    return parser.make(module, verb).flags()


def _declared(flags: Declared) -> _Flags:
    names: dict[str, Sequence[str] | None] = {f"--{name}": None for name in flags.switches}
    names.update({f"--{name}": [*choices] for name, choices in flags.values.items()})
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
        from packyard.cli.cfg import COMMANDS

        if not before:
            yield from COMMANDS
        elif len(before) > 1 and before[0] in ("set", "delete-setter"):
            values = directories.setters(Path(before[1]))
            yield from values if len(before) == 2 else values.get(before[2], ())
    elif verb in ("set", "explain", "enable"):
        directory, words = directories.split(before, names=folder.names if verb == "enable" else None)
        if not before and not any((directory / name).is_file() for name in directories.KRMFILES):
            return  # it has to be a folder
        if verb == "set":
            yield from _assignments(directory, word, words)
        else:
            yield from directories.setters(directory) if verb == "explain" else folder.names(directory)
    elif verb in ("build", "publish", "lint"):
        from packyard.writing.source import workspace

        if here := workspace.find(Path()):
            yield from here.package_names()
    else:
        from packyard.cli import parser

        yield from parser.make(import_module(f"packyard.cli.{VERBS[verb][0]}"), verb).choices(len(before))


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
