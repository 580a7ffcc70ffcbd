"""Build packages and publish them to a channel: a folder that any web server can serve.

Publishing another tar under a published name and version is refused; the same tar changes nothing. A folder that is
missing or empty becomes a channel; one with other content is refused.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from packyard.build import catalogue
from packyard.channel.publish import publish
from packyard.cli import arguments as shared
from packyard.cli import fanout, output, sources
from packyard.cli.channels import open_channel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    sources.add_names(parser)
    parser.add_argument("--version", required=True, help="the version of the packages, and the name of the release")
    parser.add_argument("--to", metavar="CHANNEL", required=True, help="a directory")
    shared.add_output(parser)
    sources.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build all packages first, then publish: if one is refused, none is published."""
    workspace = sources.find(arguments)
    if "://" not in arguments.to:
        workspace.check_target(Path(arguments.to))
    names = sources.names(arguments, workspace)
    channel = open_channel(arguments.to)
    settings = fanout.settings(arguments, workspace)
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        engine = fanout.engine(arguments, names)
        with output.progress(names) as progress:
            packed = catalogue.pack_into(settings, names, Path(folder), on=engine, done=progress)
        fanout.finish(settings.cache_dir, (item.fault for item in packed))
        done = publish(channel, [Path(folder, f"{item.name}.tar.gz") for item in packed])
    if arguments.output == "json":
        output.json_result([{**entry.document(), "key": entry.key, "status": status} for entry, status in done])
        return 0
    for entry, status in done:
        output.line(f"{status:<10} {entry.key}  {entry.digest}  tar {entry.tar}")
    return 0
