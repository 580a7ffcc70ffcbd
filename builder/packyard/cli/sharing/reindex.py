"""Make the index of a channel again, from its bundles and the records beside them.

Use it where `packyard fsck` says so. Every bundle is read and checked; if one is damaged, nothing changes.
"""

from __future__ import annotations

import argparse

from packyard.cli import output, preferences
from packyard.cli.channels import open_channel
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.sharing.publishing.reindex import reindex

ROWS = Rows("channel", "head, digest, bundles")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    signing.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the index again, and print its head."""
    keys, trusted = signing.keys(arguments.key), preferences.trust(arguments.channel)
    channel = open_channel(arguments.channel)
    memory = preferences.memory(arguments.channel)
    bundles: list[str] = []
    made, skipped = reindex(channel, keys=keys, trusted=trusted, memory=memory, done=bundles.append)
    for key in skipped:
        output.note(f"{key} has no checksum: its publish was interrupted; publish it again")
    if ROWS.show([(made.head.number, made.head.digest, len(bundles))], arguments.output):
        output.line(f"head {made.head.number} lists {output.counted(len(bundles), 'bundle')}")
    return 0
