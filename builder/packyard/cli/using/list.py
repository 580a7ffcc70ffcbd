"""List the packages of a channel, of the workspace here, or of packyard's own catalogue."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from packyard.cli import arguments as shared
from packyard.cli import workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle.manifest import LIBRARY
from packyard.core.errors import InputError, UsageError, suggest
from packyard.writing.source import package
from packyard.writing.source.workspace import Workspace

if TYPE_CHECKING:
    from packyard.cli.rows import Cells
    from packyard.sharing.entry import IndexEntry

Item = TypeVar("Item")
#: What is said of a package: the facts of its model, and the paths of its use cases.
Said = tuple[Mapping[str, str], Sequence[str]]

ROWS = Rows("package", "name, model, useCases", columns="NAME, FRAMEWORK, MODE, USE CASES", wide=None)
LIBRARIES = Rows(
    "library", "name, version, from, directory", "--libraries", columns="NAME, VERSION, FROM, DIRECTORY", wide=None
)
CHANNEL = Rows(
    "package",
    "name, version, tar, digest, size, model, useCases, description, yanked",
    "--from",
    columns="NAME, VERSION, FRAMEWORK, BYTES=size, DIGEST, IDENTITY",
    prose=2,
    wide=None,
)
_OF_CHANNEL = {
    "VERSION": lambda row: f"{row['version']} (yanked)" if row["yanked"] else row["version"],
    "FRAMEWORK": lambda row: _short(row["model"].get("framework", "")),
    "IDENTITY": lambda row: f"tar {row['tar']}",
}
_SHOWN = 40  # characters of a fact
_KNOWN = 1000  # values of a fact that are kept, to name the nearest one
_FACTS = ("framework", "category", "precision", "mode")
_OF_USE_CASES = ("topology", "storage")  # multi-node/user-mounted-nfs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="a directory or an http(s) address")
    for fact in _FACTS:
        parser.add_argument(f"--{fact}", metavar="NAME", help=f"only packages of this {fact}")
    for fact in _OF_USE_CASES:
        parser.add_argument(f"--{fact}", metavar="NAME", help=f"only packages with a use case of this {fact}")
    shared.add_libraries(parser)
    workspaces.add_argument(parser, carried=True)


def run(arguments: argparse.Namespace) -> int:
    """List packages, a row for each."""
    if arguments.channel:
        return _list_channel(arguments)
    workspace = workspaces.find(arguments, carried=True)
    if arguments.libraries:
        if unfit := [fact for fact in (*_FACTS, *_OF_USE_CASES) if getattr(arguments, fact)]:
            raise UsageError(f"packyard list: --{unfit[0]} chooses packages, not --libraries")
        return _list_libraries(workspace, arguments)
    packages = [package.read(workspace, name) for name in workspace.package_names()]
    packages = list(_chosen(arguments, packages, lambda item: (item.model, [each.path for each in item.use_cases])))
    rows = [(item.name, item.model, [each.path for each in item.use_cases]) for item in packages]
    ROWS.show(rows, arguments.output, wide=arguments.wide, cells=_cells(wide=arguments.wide))
    return 0


def _cells(*, wide: bool) -> Cells:
    """Return what a table says of a package: of its use cases the number, or their paths."""
    return {
        "FRAMEWORK": lambda row: row["model"].get("framework", ""),
        "MODE": lambda row: row["model"].get("mode", ""),
        "USE CASES": lambda row: ", ".join(row["useCases"]) if wide else str(len(row["useCases"])),
    }


def _list_channel(arguments: argparse.Namespace) -> int:
    from packyard.cli.channels import listed

    found = listed(arguments.channel)

    def entries() -> Iterator[IndexEntry]:
        """Read the index; it may be larger than memory, so it is read to check all of it, and again to print it."""
        kind = LIBRARY if arguments.libraries else ""
        every = (entry for package in found.packages() for entry in package.entries if entry.kind == kind)
        return _chosen(arguments, every, lambda entry: (entry.model, entry.use_cases))

    CHANNEL.show(entries, arguments.output, wide=arguments.wide, cells=_OF_CHANNEL)
    return 0


def _list_libraries(workspace: Workspace, arguments: argparse.Namespace) -> int:
    """List what the workspace builds on."""
    rows = [
        (each.name, *((each.pin.version, each.pin.channel) if each.pin else ("", "")), each.root_dir)
        for each in workspace.libraries
    ]
    LIBRARIES.show(rows, arguments.output, wide=arguments.wide)
    return 0


def _short(text: str) -> str:
    """Return a fact as a table or a message shows it: a channel may have a long one."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _chosen(arguments: argparse.Namespace, items: Iterable[Item], said: Callable[[Item], Said]) -> Iterator[Item]:
    """Yield the items with the facts that were asked for; if there is none, raise an error that names what exists."""
    facts = (*_FACTS, *_OF_USE_CASES)
    wanted = {fact: value for fact in facts if (value := getattr(arguments, fact)) is not None}
    known: dict[str, set[str]] = {fact: set() for fact in wanted}
    for item in items:
        model, use_cases = said(item)
        for fact, value in wanted.items():
            found = {model.get(fact, "")}
            if fact in _OF_USE_CASES:
                found = {part for path in use_cases for part in _parts(path, fact)}
                use_cases = [path for path in use_cases if value in _parts(path, fact)]
            if len(known[fact]) < _KNOWN:
                known[fact] |= found
            if value not in found:
                break
            known[fact].add(value)
        else:
            yield item
    for fact, value in wanted.items():
        if value not in known[fact]:
            others = known[fact] - {""}
            there = f"known: {', '.join(map(_short, sorted(others)[:20]))}" if others else f"no package has a {fact}"
            raise InputError(f"no package with {fact} {value!r}: {suggest(value, others) or there}")


def _parts(path: str, fact: str) -> list[str]:
    """Return the words in the path of a use case that may be its storage, the last one, or its topology."""
    words = path.split("/")
    return words[-1:] if fact == "storage" else words
