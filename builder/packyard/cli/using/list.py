"""List packages with title, framework and mode: all, or those that have all the words you give.

packyard list                        the configured channel, or the catalogue
                                     that packyard carries
packyard list resnet train           packages whose names, titles, facts or use
                                     cases have words that begin so
packyard list --from CHANNEL         each package with its latest version
packyard list --workspace .          the packages of the workspace here

If one package alone has your words, its use cases are listed, too, in the order of work.
A line on stderr names the source, from which `packyard get` takes packages, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from packyard import __version__
from packyard.cli import bundles, declare, output, preferences, use_cases, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import UnavailableError, UsageError
from packyard.sharing.index import summary
from packyard.sharing.index.summary import Summary

if TYPE_CHECKING:
    from packyard.writing.source.workspace import Workspace

#: Whether the channel was reached, and the number of its index that was seen; None where there is no channel.
Seen = tuple[bool | None, int | None]
#: Where packages are listed from, the packages, what describes one of them, and what was seen of the channel.
Listed = tuple[str, Iterable[Summary], Callable[[Summary], Manifest], Callable[[], Seen]]

ROWS = Rows(
    "package",
    "name, version, title, model, useCases, channelReached, indexSeen",
    columns="NAME, VERSION, FRAMEWORK, MODE, CASES, TITLE",
)
LIBRARIES = Rows("library", "name, version, from, directory", "--libraries", columns="NAME, VERSION, FROM, DIRECTORY")
_MOST = 100_000
_CELLS = {
    "FRAMEWORK": lambda row: summary.short(row["model"].get("framework", "")),
    "MODE": lambda row: summary.short(row["model"].get("mode", "")),
    "CASES": lambda row: str(len(row["useCases"])),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="WORD", nargs="*", help="only packages that have all of these words")
    declare.value(parser, "--from CHANNEL", "a directory or an http(s) address", dest="channel")
    declare.libraries(parser)
    declare.value(parser, "--workspace DIR", "list the packages of a workspace")


def run(arguments: argparse.Namespace) -> int:
    """List packages, a row for each; 1 if none has the words."""
    if arguments.workspace and arguments.channel:
        raise UsageError("packyard list: give --from or --workspace, not both")
    if arguments.libraries and not arguments.channel:
        return _list_libraries(arguments)
    words = summary.split(arguments.words)
    if arguments.words and not words:
        raise UsageError("packyard list: write words such as: resnet fp32")
    where, packages, described, seen = _listed(arguments)
    chosen = list(islice((each for each in packages if each.has(words)), _MOST + 1))
    if len(chosen) > _MOST:
        raise UsageError(f"packyard list: {where} has more than {_MOST} such packages; packyard list WORD names fewer")
    rows = [(each.name, each.version, each.title, each.model, each.use_cases, *seen()) for each in chosen]
    if ROWS.show(rows, arguments.output, cells=_CELLS) and words and len(chosen) == 1 and chosen[0].use_cases:
        try:
            _tell_use_cases(described(chosen[0]))
        except UnavailableError as error:  # offline, the listing may be known, and the package not
            output.warning(str(error))
    what = "library" if arguments.libraries else "package"
    lacking = f"no {what} has all of these words" if words else f"there is no {what}"
    output.note(f"from {where}" if chosen else f"{lacking} in {where}")
    return int(bool(words) and not chosen)


def _tell_use_cases(manifest: Manifest) -> None:
    output.line()
    for path, name in use_cases.names(manifest).items():
        for line in use_cases.lines(name, manifest.use_cases[path].description):
            output.line(line)


def _listed(arguments: argparse.Namespace) -> Listed:
    """Return where packages are listed from, in words, the packages, what describes them, and what was seen of it."""
    source = preferences.source(arguments.channel)
    if arguments.workspace or source.is_carried:
        here = workspaces.find(arguments) if arguments.workspace else workspaces.carried()
        summaries = list(_of_sources(here, "" if arguments.workspace else __version__))
        where = f"the workspace {arguments.workspace}" if arguments.workspace else str(source)
        return where, summaries, lambda each: bundles.packed(here, each.name).manifest, lambda: (None, None)
    from packyard.cli.channels import is_reached, listed, open_to_read, signed

    store = open_to_read(source.value)
    index = listed(source.value, store)

    def described(each: Summary) -> Manifest:
        return bundles.offer(Reference(name=each.name, version=each.version), source, store).bundle.manifest

    packages = index.summaries(LIBRARY if arguments.libraries else "")
    return f"{source}, {signed(source.value, index)}", packages, described, lambda: (is_reached(store), index.number)


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


def _list_libraries(arguments: argparse.Namespace) -> int:
    """List what the workspace builds on."""
    if arguments.words:
        raise UsageError("packyard list: WORD chooses packages, not --libraries of a workspace")
    rows = [
        (each.name, each.version, each.address, each.root_dir)
        for each in workspaces.find(arguments, carried=True).libraries
    ]
    LIBRARIES.show(rows, arguments.output)
    return 0
