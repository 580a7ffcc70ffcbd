"""Completions of the last word of a command line: called by the script that `packyard completion` prints."""

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from packyard.cli import directory as directories
from packyard.cli import output
from packyard.cli.verbs import VERBS
from packyard.core.errors import PackyardError
from packyard.using.options import options

#: Verbs whose word is a package that is not here.
_OF_SOURCE = ("get", "show", "run", "render", "deploy", "doctor")
#: Those whose first word is a use case of a package that is here, or one of both.
_OF_USE_CASE = ("set", "setters", "explain", "enable", "diff", "verify", *_OF_SOURCE[2:])
_OF_RUNS = ("status", "logs", "exec", "forward", "results", "undeploy", "rollback")


def main(arguments: Sequence[str]) -> int:
    """Take the words after ``packyard``, the unfinished one last, and print its completions."""
    typed = [argument.strip("'\"") for argument in arguments[arguments[:1] == ["--"] :] or [""]]
    *before, word = map(os.path.expanduser, typed)  # texts, of which the last may be no path
    try:
        offered = {candidate for candidate in _candidates(before, word) if candidate.startswith(word)}
    except (PackyardError, OSError):  # a package that cannot be read has no names to offer
        offered = set()
    output.line(*sorted(filter(str.isprintable, offered)))
    return 0


def _candidates(before: list[str], word: str) -> Iterator[str]:
    from packyard.cli.main import FLAGS

    while before and before[0].startswith("-"):
        before = before[1:]
    if before in ([], ["help"]):
        yield from (*VERBS, *(FLAGS if word.startswith("-") else ["all"] if before else ["help"]))
    elif before[0] in VERBS:
        yield from _of_verb(before[0], before[1:], word)


def _of_verb(verb: str, before: list[str], word: str) -> Iterator[str]:
    """Yield flags, values of the flag before the word, or what the verb takes at its place."""
    flags = flags_of(verb, before)
    takes_value = [False, *(flags.get(typed) is not None for typed in before)]
    words = [typed for place, typed in enumerate(before) if not typed.startswith("-") and not takes_value[place]]
    name, equals, _ = word.partition("=")
    if word.startswith("-"):
        yield from (f"{name}={choice}" for choice in flags.get(name) or ()) if equals else flags
    elif takes_value[-1]:
        is_name = before[-1] == "--unset"
        yield from directories.setters(directories.split(words)[0]) if is_name else flags[before[-1]] or ()
    elif not words and verb in _OF_USE_CASE and (here := [name for name in _use_cases(word) if name.startswith(word)]):
        yield from here
    elif verb in _OF_SOURCE:
        yield from () if words else _packages(word)
    elif verb in _OF_RUNS:
        yield from _runs(before) if verb == "undeploy" or not words else ()
    elif verb == "cfg":
        yield from () if words else import_module("packyard.cli.cfg").COMMANDS
    elif verb in ("set", "explain", "enable"):
        yield from _of_package(verb, words, word)
    else:
        from packyard.cli import declare

        yield from declare.make(import_module(f"packyard.cli.{VERBS[verb][0]}"), verb).choices(len(words))


def _of_package(verb: str, words: list[str], word: str) -> Iterator[str]:
    """Yield names of options or setters; for `set` with ``=``, and behind it or a bare NAME the values it may have."""
    directory, rest = directories.split(words, names=options.names if verb == "enable" else directories.setters)
    if not words and not any((directory / name).is_file() for name in directories.KRMFILES):
        return  # it has to be a folder
    if verb == "enable":
        yield from options.names(directory)
        return
    values = directories.setters(directory)
    name, equals, _ = word.partition("=")
    if verb == "explain":
        yield from values
    elif equals:
        yield from (f"{name}={value}" for value in values.get(name, ()))
    else:
        yield from values.get(rest[0], ()) if rest and "=" not in rest[0] else (f"{name}=" for name in values)


def _use_cases(start: str) -> Iterator[str]:
    """Yield the use cases of the package that a word begins with, or of the one here."""
    from packyard.cli import copies
    from packyard.core.bundle import address, manifest

    tops = [start[: place + 1] for place, sign in enumerate(start) if sign == "/"] or [""]
    for top in [top for top in tops if Path(top, manifest.FILE).is_file()][:1]:
        paths = copies.read(Path(top)).described.deployed()
        yield from (f"{top}{name}" for name in address.shortened(paths).values())


def _packages(start: str) -> Iterator[str]:
    """Yield the packages that packyard carries, or the use cases of one: no channel is asked."""
    from packyard.core.bundle import address
    from packyard.writing.source import package, workspace

    here, (name, slash, _) = workspace.built_in(), start.partition("/")
    if not slash:
        yield from here.package_names()
    elif name in here.package_names():
        paths = [use_case.path for use_case in package.read(here, name).use_cases]
        yield from (f"{name}/{path}" for path in address.shortened(paths).values())


def _runs(words: Sequence[str]) -> list[str]:
    """Return the runs on the cluster that kubectl's flags among the words name."""
    from packyard.cli import declare
    from packyard.cli.running import clusters
    from packyard.running.runs import record

    parser = declare.Parser(add_help=False, exit_on_error=False)
    clusters.add_arguments(parser)
    return record.read_names(clusters.client(parser.parse_known_args(words)[0]))


def flags_of(verb: str, before: Sequence[str]) -> Mapping[str, Sequence[str] | None]:
    """Return the flags of a verb, or of a command of `cfg`, each with the values to choose from: None without a value.

    Where any value is possible there are none.
    """
    from packyard.cli import cfg, declare
    from packyard.cli.using.set import FLAGS

    module = import_module(f"packyard.cli.{VERBS[verb][0]}")
    if hasattr(module, "add_arguments"):
        return declare.make(module, verb).flags()
    return cfg.flags_of(before).offered() if verb == "cfg" else FLAGS.offered()
