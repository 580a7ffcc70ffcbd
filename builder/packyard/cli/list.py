"""List the packages of a channel, of the workspace here, or of packyard's own catalogue."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from packyard.cli import arguments as shared
from packyard.cli import output, sources
from packyard.errors import InputError, suggest
from packyard.source import package
from packyard.source.package import Package

Item = TypeVar("Item")

_SHOWN = 40  # characters of a fact
_FACTS = ("framework", "category", "precision", "mode")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="a directory or an http(s) address")
    for fact in _FACTS:
        parser.add_argument(f"--{fact}", metavar="NAME", help=f"only packages of this {fact}")
    shared.add_output(parser)
    shared.add_wide(parser)
    sources.add_argument(parser, carried=True)


def run(arguments: argparse.Namespace) -> int:
    """List packages, a row for each."""
    if arguments.channel:
        return _list_channel(arguments)
    workspace = sources.find(arguments, carried=True)
    packages = [package.read(workspace, name) for name in workspace.package_names()]
    packages = _chosen(arguments, packages, lambda item: item.model)
    if arguments.output == "json":
        output.json_result([{"name": item.name, "model": dict(item.model), "useCases": [u.path for u in item.use_cases]}
                            for item in packages])  # fmt: skip
        return 0
    rows = [
        (item.name, item.model.get("framework", ""), item.model.get("mode", ""), _use_cases(item, wide=arguments.wide))
        for item in packages
    ]
    output.table(("NAME", "FRAMEWORK", "MODE", "USE CASES"), rows, wide=arguments.wide)
    return 0


def _list_channel(arguments: argparse.Namespace) -> int:
    from packyard.channel.index import stored
    from packyard.cli import settings
    from packyard.cli.channels import open_channel

    address = arguments.channel
    listed = stored.read(open_channel(address), settings.trust(address), settings.memory(address))
    entries = _chosen(arguments, listed.entries, lambda entry: entry.model)
    if arguments.output == "json":
        output.json_result([entry.document() for entry in entries])
        return 0
    rows = [
        (
            each.name,
            f"{each.version} (yanked)" if each.yanked else each.version,
            _short(each.model.get("framework", "")),
            str(each.size),
            each.digest,
            f"tar {each.tar}",
        )
        for each in entries
    ]
    output.table(("NAME", "VERSION", "FRAMEWORK", "BYTES", "DIGEST", "IDENTITY"), rows, wide=arguments.wide, prose=2)
    return 0


def _use_cases(item: Package, *, wide: bool) -> str:
    """Return the number of use cases, or their paths."""
    return ", ".join(use_case.path for use_case in item.use_cases) if wide else str(len(item.use_cases))


def _short(text: str) -> str:
    """Return a fact as a table or a message shows it: a channel may have a long one."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _chosen(
    arguments: argparse.Namespace, items: Sequence[Item], model: Callable[[Item], Mapping[str, str]]
) -> list[Item]:
    """Return the items with the facts that were asked for; if there is none, raise an error that names what exists."""
    found = list(items)
    for fact in _FACTS:
        wanted = getattr(arguments, fact)
        if wanted is None:
            continue
        known = {model(item).get(fact, "") for item in found} - {""}
        found = [item for item in found if model(item).get(fact) == wanted]
        if not found:
            there = f"known: {', '.join(map(_short, sorted(known)[:20]))}" if known else f"no package has a {fact}"
            raise InputError(f"no package with {fact} {wanted!r}: {suggest(wanted, known) or there}")
    return found
