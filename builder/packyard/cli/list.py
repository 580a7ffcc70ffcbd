"""Show the packages of a channel, or those whose sources are here."""

from __future__ import annotations

import argparse

from packyard.cli import output, sources
from packyard.source import package


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="a directory or an http(s) address")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    sources.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them, a line each."""
    if arguments.channel:
        return _list_channel(arguments)
    workspace = sources.find(arguments)
    packages = [package.read(workspace, name) for name in workspace.package_names()]
    if arguments.output == "json":
        output.json_result([{"name": item.name, "model": dict(item.model), "useCases": [u.path for u in item.use_cases]}
                            for item in packages])  # fmt: skip
        return 0
    rows = [(item.name, item.model.get("mode", ""), use_case.path) for item in packages for use_case in item.use_cases]
    output.table(("NAME", "MODE", "USE CASE"), rows)
    return 0


def _list_channel(arguments: argparse.Namespace) -> int:
    from packyard.channel import index, stores

    entries = index.read(stores.open_store(arguments.channel)).entries
    if arguments.output == "json":
        output.json_result([entry.document() for entry in entries])
        return 0
    rows = [(entry.name, entry.version, str(entry.size), entry.tar) for entry in entries]
    output.table(("NAME", "VERSION", "BYTES", "TAR"), rows)
    return 0
