"""Finds DIR among the words of a command, by one rule for all verbs, as it may be omitted.

The first word is DIR if it is a folder, or NAME/USECASE of a package (`usecases.find`), unless it is NAME=VALUE;
otherwise DIR is ``.``. A word with a ``/`` is always DIR.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.cli import output
from packyard.core.errors import InputError, PackyardError, Problem, UsageError, suggest

if TYPE_CHECKING:
    import argparse

    from packyard.core.files.tree import Tree
    from packyard.using.setters.valuesfile import ValuesFile

#: The text about it in --help.
HELP = """\
DIR is the first word if it is a folder, or NAME/USECASE of a package here;
otherwise the working directory."""

#: Returns the names that may come first instead of DIR.
Names = Callable[[Path], Collection[str]]
Values = Mapping[str, Sequence[str]]

_HERE = Path()
KRMFILES = ("Krmfile", "Kptfile")


def add_arguments(parser: argparse.ArgumentParser, rest: str = "") -> None:
    """Declare DIR, followed by what the usage calls ``rest``, as ``words``."""
    parser.epilog = HELP
    parser.add_argument("words", metavar=f"[DIR] {rest}".rstrip(), nargs="*")


def setters(directory: Path, opened: Tree | None = None) -> dict[str, list[str]]:
    """Return the setters of a package, or of those below, each with the values to choose from."""
    from packyard.core.files.tree import Tree
    from packyard.using.options.option_setters import list_choices  # slow, and most words are told apart without

    return list_choices(opened or Tree(directory))


def split(words: Sequence[str], what: str = "a parameter", names: Names | None = setters) -> tuple[Path, list[str]]:
    """Return DIR and the words after it; refuse a first word that is neither DIR nor a known name.

    ``names`` returns the names that may come first instead of DIR, by default those of the setters of the package here
    and those below; ``what`` says what they name.
    """
    if place := find(words, names):
        return place
    raise refusal(words[0], what, names)


def find(words: Sequence[str], names: Names | None = None) -> tuple[Path, list[str]] | None:
    """Return DIR, the folder or the use case that the first word names, and the words after it; None if there is none.

    Without a word, and before NAME=VALUE or one of the ``names``, DIR is here.
    """
    first = words[0] if words else os.curdir
    if not words or "=" in first.partition("/")[0]:
        return _HERE, list(words)
    if os.path.isdir(first):  # noqa: PTH112  # a text, which may be empty
        return Path(first), list(words[1:])
    if "/" not in first and first in _known(names):
        return _HERE, list(words)
    if both := re.fullmatch("([^=]+)[/ .]([^/ .=]+=.*)", first, re.DOTALL):
        from shlex import join

        raise UsageError(f"DIR and NAME=VALUE are two words; type {join(both.groups())}")
    from packyard.using.options import usecases  # most words are folders

    if use_case := usecases.find(first):
        from packyard.core.bundle import address

        output.note(f"in {use_case if output.verbose else address.of(use_case)}")
        return use_case, list(words[1:])
    return None


def refusal(word: str, what: str = "", names: Names | None = None) -> InputError:
    """Return the error for a word that names no folder, and nothing else that is known here."""
    if "://" in word:
        from packyard.core.bundle import reference

        return reference.refusal(word)
    fault = f"is neither a directory nor {what} of the package here" if what else "is not a directory"
    hint = "" if "/" in word else suggest(word, _known(names))
    if Path(word).exists():
        other = "a values file goes behind -f" if what == "a parameter" else f"its folder is {Path(word).parent}"
        hint = hint or (f"tar -xzf {word} unpacks it" if word.endswith((".tar.gz", ".tgz")) else other)
    elif not word.startswith(("/", ".")):
        hint = hint or _way_to_package(*word.partition("/"))
    return InputError(Problem(fault, file=word, hint=hint))


def _way_to_package(name: str, slash: str, rest: str) -> str:
    """Say where a package may be that is not here: in a folder below, or in a channel."""
    from shlex import quote

    from packyard.using.options import usecases  # most words are folders
    from packyard.writing.source import workspace

    if slash and Path("packages", name, "package.yaml").is_file():
        return f"packyard build {quote(name)} --version 1.0.0 --to build makes the package, with its use cases"
    if hint := meant(f"{name}{slash}{rest}"):
        return hint
    if slash and (below := usecases.packages(_HERE)):
        return f"the packages below are {usecases.listed(below)}: begin with one of them"
    if name in (known := workspace.built_in().package_names()):
        return f"packyard get {quote(name)} fetches it"
    return suggest(name, known) or "packyard list shows packages to get"


def meant(word: str) -> str:
    """Suggest the package below, or the use case of one, that a word names; nothing where it names none."""
    from packyard.core.bundle import address
    from packyard.using.options import usecases

    name, slash, rest = word.partition("/")
    for folder in usecases.packages(_HERE):
        if Path(folder).name == name != folder:
            return f"did you mean {f'{folder}{slash}{rest}'!r}?"
        with suppress(PackyardError):
            known = [os.path.relpath(path, folder) for path in usecases.below(Path(folder))]
            fitting = address.fits(known, word)
            names = [f"'{folder}/{short}'" for path, short in address.shortened(known).items() if path in fitting]
            if names:
                return f"did you mean {usecases.listed(names)}?"
    return ""


def placed(problem: Problem) -> Problem:
    """Name the use case where a value is wrong, in place of the definition, which its user did not write."""
    from packyard.core.bundle import address, delivery

    folder, file = os.path.split(problem.file)
    if file in KRMFILES and (problem.setter or problem.missing):
        with suppress(PackyardError):  # packyard.json is damaged, which others say
            if delivery.package_of(Path(folder)):
                defined = f"{problem.detail} defined at {problem.file}:{problem.line}".strip()
                return problem._replace(file=folder and address.of(Path(folder)), line=0, detail=defined)
    return problem


def only(words: Sequence[str], verb: str) -> Path:
    """Return DIR for a verb that takes nothing else."""
    directory, rest = split(words, "", None)
    if rest:
        from shlex import quote

        from packyard.core.bundle import address

        typed = address.typed(directory)
        explain = f"packyard explain {typed} {quote(rest[0])}" if rest[0] in _known(setters, directory) else ""
        hint = meant(rest[0]) or f"type {explain or f'packyard {verb} {typed}'}"
        raise UsageError(f"packyard {verb}: unexpected argument {rest[0]!r} after DIR; {hint}")
    return directory


def values(words: Sequence[str], verb: str) -> dict[str, list[str]]:
    """Return the values of words ``NAME=VALUE``, by their names."""
    by_name: dict[str, list[str]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name != name.strip() or not name:
            raise UsageError(f"packyard {verb}: {_misread(word, words, verb)}")
        by_name.setdefault(name, []).append(text)
    return by_name


def _misread(word: str, words: Sequence[str], verb: str) -> str:
    """Say what is wrong with a word that is not NAME=VALUE, and what was probably meant."""
    from shlex import quote

    typed = " ".join(map(quote, words))
    if (joined := typed.replace(" =", "=").replace("= ", "=")) != typed:
        return f"there are blanks around =; type {joined}"
    if os.path.isfile(word):  # noqa: PTH113  # a text
        return f"{word!r} is a file; to set the values that it has, type -f {quote(word)}"
    from packyard.using.options import usecases  # most words are NAME=VALUE

    if os.path.isdir(word) or usecases.find(word):  # noqa: PTH112  # a text
        rest = " ".join(quote(part) for part in words if part is not word)
        return f"DIR goes first; type packyard {verb} {quote(word)} {rest}"
    return f"{word!r} must be NAME=VALUE; packyard {verb} --help shows the usage"


def _known(names: Names | None, directory: Path = _HERE) -> Collection[str]:
    try:
        return names(directory) if names else ()
    except PackyardError:  # there is no package here, or it cannot be read
        return ()


def with_files(typed: Mapping[str, Sequence[str]], files: Sequence[str], use_case: Tree) -> tuple[Values, list[str]]:
    """Return the values that words and files give setters, and the options that files enable.

    The value that is typed counts, then that of the last file; an empty one empties a setter. ``-`` is standard input,
    and a file may be a pipe, as the shell makes of ``<(…)``, or a preset of the package. What only options have that
    are not enabled is passed over, as it says.
    """
    values: dict[str, Sequence[str]] = {}
    options: list[str] = []
    for file in files:
        parsed = _values_file(file, use_case.root_dir)
        values |= parsed.by_name
        options += (name for name in parsed.options if name not in options)
    values = {name: [] if texts == [""] else texts for name, texts in {**values, **typed}.items()}
    if files:
        from packyard.using.options import option_setters

        for name, sentence in [*option_setters.idle(use_case, values, options)]:
            output.note(sentence)
            del values[name]
    return values, options


def tell_replaced(use_case: Tree, names: Collection[str], enabling: Sequence[str] = ()) -> None:
    """Warn of values of a use case that an option replaces, which is enabled or to be."""
    from packyard.using.options import folder

    if names and (enabling or folder.has_options(use_case)):
        from packyard.using.options import switch  # most use cases have no option enabled

        for name, option in switch.replaced(use_case, names, enabling):
            output.warning(f"{name} has no effect here: the option {option!r}, which is enabled, replaces it")


def _values_file(file: str, directory: Path) -> ValuesFile:
    """Read a values file, which may be one of the package's presets."""
    from packyard.using.setters import valuesfile

    if file == "-":
        return valuesfile.parse(output.read("values"), "stdin")
    if not os.path.lexists(file):
        from packyard.core.bundle import delivery  # most files are the user's own

        presets = {f"{delivery.PRESETS}/{name}.yaml": path for name, path in delivery.presets(directory).items()}
        if file not in presets:
            hint = suggest(file, presets) or (f"the package has {', '.join(presets)}" if presets else "")
            raise InputError(Problem("no such file", file=file, hint=hint))
        file = str(presets[file])
    with open(file, "rb") as opened:  # noqa: PTH123  # a text: where it is shown, it is shown as given
        return valuesfile.parse(opened.read(valuesfile.LIMIT + 1), file)
