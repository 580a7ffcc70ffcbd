"""List packages with title, framework and mode: all, or those that have all the words you give.

packyard list                        the configured channel, or the catalogue that packyard carries
packyard list resnet train           packages whose names, titles, facts or use cases have words that begin so
packyard list --from CHANNEL         what a channel has, each package with its latest version
packyard list --workspace .          the packages of the workspace here

If one package alone has your words, its use cases are listed, too, in the order of work.
A line on stderr names the source, from which `packyard get` takes packages, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from packyard import __version__
from packyard.cli import bundles, declare, output, preferences, use_cases, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, UnavailableError, UsageError, suggest
from packyard.sharing.index import summary
from packyard.sharing.index.summary import Summary

if TYPE_CHECKING:
    from packyard.cli.rows import Cells
    from packyard.writing.source.workspace import Workspace

#: Whether the channel was reached, and the number of its head that was seen; None where there is no channel.
Seen = tuple[bool | None, int | None]
#: Where packages are listed from, what lists them, what describes one of them, and what was seen of the channel by now.
Listed = tuple[str, Callable[[], Iterable[Summary]], Callable[[Summary], Manifest], Callable[[], Seen]]

ROWS = Rows(
    "package",
    "name, version, title, model, useCases, channelReached, headSeen",
    columns="NAME, VERSION, FRAMEWORK, MODE, CASES, TITLE",
    prose=1,
    wide=None,
    bare=True,
    ahead=100,
)
LIBRARIES = Rows(
    "library", "name, version, from, directory", "--libraries", columns="NAME, VERSION, FROM, DIRECTORY", wide=None
)
_SHOWN = 40  # characters of a fact
_KNOWN = 1000  # values of a fact that are kept, to name the nearest one
_FACTS = ("framework", "category", "precision", "mode")
_OF_USE_CASES = ("topology", "storage")  # multi-node/user-mounted-nfs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="WORD", nargs="*", help="only packages that have all of these words")
    declare.value(parser, "--from CHANNEL", "a directory or an http(s) address", dest="channel")
    for fact in _FACTS:
        parser.add_argument(f"--{fact}", metavar="NAME", help=f"only packages of this {fact}")
    for fact in _OF_USE_CASES:
        parser.add_argument(f"--{fact}", metavar="NAME", help=f"only packages with a use case of this {fact}")
    declare.libraries(parser)
    declare.value(parser, "--workspace DIR", "list the packages of a workspace")


def run(arguments: argparse.Namespace) -> int:
    """List packages, a row for each; 1 if none has the words."""
    if arguments.libraries and not arguments.channel:
        return _list_libraries(arguments)
    where, every, described, seen = _listed(arguments)
    words = summary.split(arguments.words)
    if len(words) > _KNOWN or (arguments.words and not words):
        raise UsageError("packyard list: write words such as: resnet fp32")
    count, last = 0, None

    def rows() -> Iterator[tuple[object, ...]]:
        """Read the packages, which may be more than memory holds."""
        nonlocal count, last
        count = 0
        for package in _chosen(arguments, every()):
            if package.has(words):
                count, last = count + 1, package
                yield package.name, package.version, package.title, package.model, package.use_cases, *seen()

    is_text = ROWS.show(rows, arguments.output, wide=arguments.wide, cells=_cells(wide=arguments.wide))
    if is_text and words and count == 1 and last and last.use_cases:
        try:
            _tell_use_cases(described(last))
        except UnavailableError as error:  # offline, the listing may be known, and the package not
            output.warning(str(error))
    what = "library" if arguments.libraries else "package"
    lacking = f"no {what} has all of these words" if words else f"there is no {what}"
    output.note(f"from {where}" if count else f"{lacking} in {where}")
    return int(bool(words) and not count)


def _tell_use_cases(manifest: Manifest) -> None:
    output.line()
    for path, name in use_cases.names(manifest).items():
        for line in use_cases.lines(name, manifest.use_cases[path].description):
            output.line(line)


def _listed(arguments: argparse.Namespace) -> Listed:
    """Return where packages are listed from, in words, what lists and describes them, and what was seen of it."""
    source = preferences.source(arguments.channel)
    if arguments.workspace and arguments.channel:
        raise UsageError("packyard list: give --from or --workspace, not both")
    if arguments.workspace or source.is_carried:
        here = workspaces.find(arguments) if arguments.workspace else workspaces.carried()
        summaries = list(_of_sources(here, "" if arguments.workspace else __version__))
        where = f"the workspace {arguments.workspace}" if arguments.workspace else str(source)
        return (
            where,
            lambda: summaries,
            lambda each: bundles.packed(here, each.name).manifest,
            lambda: (None, None),
        )
    from packyard.cli.channels import is_reached, listed, open_to_read

    store = open_to_read(source.value)
    index = listed(source.value, store)
    kind = LIBRARY if arguments.libraries else ""
    return (
        str(source),
        lambda: index.summaries(kind),
        lambda each: bundles.offer(Reference(name=each.name, version=each.version), source, store).bundle.manifest,
        lambda: (is_reached(store), index.head.number),
    )


def _of_sources(here: Workspace, version: str) -> Iterator[Summary]:
    """Yield the packages of a workspace; they have the version of packyard where it carries them."""
    from packyard.writing.source import package

    for name in here.package_names():
        item = package.read(here, name)
        yield Summary(
            name=name,
            version=version,
            title=summary.short(package.title(here, item.folder)),
            model=item.model,
            use_cases=[each.path for each in item.use_cases],
        )


def _cells(*, wide: bool) -> Cells:
    """Return what a table says of a package: of its use cases the number, or their paths."""
    return {
        "FRAMEWORK": lambda row: _short(row["model"].get("framework", "")),
        "MODE": lambda row: _short(row["model"].get("mode", "")),
        "CASES": lambda row: ", ".join(row["useCases"]) if wide else str(len(row["useCases"])),
    }


def _list_libraries(arguments: argparse.Namespace) -> int:
    """List what the workspace builds on."""
    workspace = workspaces.find(arguments, carried=True)
    if unfit := [fact for fact in ("words", *_FACTS, *_OF_USE_CASES) if getattr(arguments, fact)]:
        name = "WORD" if unfit[0] == "words" else f"--{unfit[0]}"
        raise UsageError(f"packyard list: {name} chooses packages, not --libraries of a workspace")
    rows = [
        (each.name, *((each.pin.version, each.pin.channel) if each.pin else ("", "")), each.root_dir)
        for each in workspace.libraries
    ]
    LIBRARIES.show(rows, arguments.output, wide=arguments.wide)
    return 0


def _short(text: str) -> str:
    """Return a fact as a table or a message shows it: a channel may have a long one."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _chosen(arguments: argparse.Namespace, packages: Iterable[Summary]) -> Iterator[Summary]:
    """Yield the packages with the facts that were asked for; if there is none, raise an error that names others."""
    facts = (*_FACTS, *_OF_USE_CASES)
    wanted = {fact: value for fact in facts if (value := getattr(arguments, fact)) is not None}
    by_fact: dict[str, set[str]] = {fact: set() for fact in wanted}
    for package in packages:
        use_cases = package.use_cases
        for fact, value in wanted.items():
            own_values = {package.model.get(fact, "")}
            if fact in _OF_USE_CASES:
                own_values = {part for path in use_cases for part in _parts(path, fact)}
                use_cases = [path for path in use_cases if value in _parts(path, fact)]
            if len(by_fact[fact]) < _KNOWN:
                by_fact[fact] |= own_values
            if value not in own_values:
                break
            by_fact[fact].add(value)
        else:
            yield package
    for fact, value in wanted.items():
        if value not in by_fact[fact]:
            others = by_fact[fact] - {""}
            there = f"known: {', '.join(map(_short, sorted(others)[:20]))}" if others else f"no package has a {fact}"
            raise InputError(f"no package with {fact} {value!r}: {suggest(value, others) or there}")


def _parts(path: str, fact: str) -> list[str]:
    """Return the words in the path of a use case that may be its storage, the last one, or its topology."""
    words = path.split("/")
    return words[-1:] if fact == "storage" else words
