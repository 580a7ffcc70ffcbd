"""The use case that a command is about: in a folder, or of a package that is fetched for this command alone.

packyard render llm-serving/one-node PVC_NAME=models       of the channel, or of what packyard carries
packyard render llm-serving@^1.2/one-node --from CHANNEL   of another version or channel
packyard deploy llm-serving/one-node --locked              of the version in packyard.lock, to the byte

A package of one use case is named alone. A folder wins, unless a version, --from or --locked is given. What is fetched
is verified as by `packyard get`, and unpacked into a folder that ends with the command; errors name the use case as it
was typed.
"""

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packyard.cli import bundles, declare, output, preferences
from packyard.cli import directory as directories
from packyard.core.bundle import address, delivery, lock
from packyard.core.bundle.reference import Reference, is_name, split
from packyard.core.errors import InputError, PackyardError, Problem, UsageError
from packyard.core.files.tree import Tree
from packyard.using.options import earlier, option_setters, usecases


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """A use case, and what is to be set in it: the values of files and words, and the options that files enable.

    ``name``, ``words`` and ``flags`` are what was typed, for a command to go on with.
    """

    tree: Tree
    name: str
    words: Sequence[str]
    flags: Sequence[str]
    values: Mapping[str, Sequence[str]]
    options: Sequence[str]
    is_fetched: bool

    def command(self, verb: str, *flags: str) -> str:
        """Return the command that was typed, without the values of words."""
        return shlex.join(["packyard", verb, self.name, *flags, *self.flags])


def add_arguments(parser: declare.Parser) -> None:
    """Declare the use case, its values, and where it is from."""
    directories.add_arguments(parser, "[NAME=VALUE...]")
    add_values(parser, "as if the values and options of this file were set")
    parser.value("--from CHANNEL", "fetch NAME/USECASE for this command alone", dest="channel")
    parser.switch("--locked", f"the version that {lock.FILE} notes")


def add_values(parser: declare.Parser, text: str) -> None:
    """Declare values files."""
    parser.add_argument("-f", "--values", metavar="FILE", action="append", default=[], help=text)


@contextmanager
def opened(arguments: declare.Arguments, verb: str, *, all_by: str = "") -> Iterator[UseCase]:
    """Yield the use case that the words of a command name, for as long as it is read.

    With ``all_by``, the flag that takes all use cases below a directory, it may be a package.
    """
    is_asked = _is_asked(arguments, verb)
    place = None if is_asked else directories.find(arguments.words)
    directory, words = place or (Path(), arguments.words[1:])
    typed, packages = directories.values(words, verb), delivery.Packages()
    with ExitStack() as stack:
        if place:
            directory = directory if all_by else usecases.chosen(directory, verb, words)
            name, names = address.of(directory, packages), []
        else:
            reference, wanted = _named(arguments.words[0], is_asked=is_asked)
            directory = top = stack.enter_context(_fetched(reference, arguments))
            name = arguments.words[0]
            if wanted or not all_by:
                known = [os.path.relpath(path, top) for path in usecases.below(top)]
                directory = top / address.only(known, wanted, str(reference))
            names = [(str(directory), name), (str(top), str(reference))]
        tree = Tree(directory)
        values, options = directories.with_files(typed, arguments.values, tree)
        use_case = UseCase(
            tree=tree,
            name=name,
            words=words,
            flags=_flags(arguments),
            values=values,
            options=options,
            is_fetched=place is None,
        )
        output.note(*tree.warnings())
        try:
            directories.tell_replaced(tree, use_case.values, options)
            output.warning(*(earlier.differing(tree, use_case.values, packages) if place else ()))
            yield use_case
        except PackyardError as error:
            placed = error.mapped(partial(option_setters.elsewhere, tree)).mapped(directories.placed)
            for folder, shown in names:
                placed = placed.mapped(partial(Problem.renamed, folder=folder, name=shown))
            raise placed from error


def _is_asked(arguments: declare.Arguments, verb: str) -> bool:
    """Say whether a package is to be fetched, whatever is here."""
    name = arguments.words[0].partition("/")[0] if arguments.words else ""
    is_asked = arguments.locked or arguments.channel is not None
    if is_asked and (not name or "=" in name):
        raise UsageError(f"packyard {verb}: name a package and its use case, NAME/USECASE, with --from and --locked")
    return is_asked or "@" in name


def _named(word: str, *, is_asked: bool) -> tuple[Reference, str]:
    """Return the package and the use case of NAME/USECASE, of which NAME may be enough; refuse what can be neither."""
    name = word.partition("/")[0]
    if not is_asked and (not is_name(name) or os.path.lexists(name)):
        raise directories.refusal(word)
    return split(word)


@contextmanager
def _fetched(reference: Reference, arguments: declare.Arguments) -> Iterator[Path]:
    """Yield the folder of a package that is fetched, verified and unpacked."""
    source, pin = preferences.source(arguments.channel), None
    if arguments.locked:
        ((reference, source, pin),) = bundles.pinned(Path(lock.FILE), arguments.channel, reference)
    try:
        bundle = bundles.offer(reference, source, pin=pin, tell=output.note).bundle
    except InputError as error:
        here = "" if Path(reference.name).is_dir() else f", and {reference.name} is not a directory here"
        raise error.mapped(lambda problem: problem._replace(message=f"{problem.message}{here}")) from error
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        yield bundle.unpack(Path(os.path.realpath(folder)))


def _flags(arguments: declare.Arguments) -> list[str]:
    """Return the flags that say where a use case and its values are from, for a command to go on with."""
    from_ = [f"--from={arguments.channel}"] if arguments.channel is not None else []
    return [*(f"--values={file}" for file in arguments.values), *from_, *["--locked"] * arguments.locked]
