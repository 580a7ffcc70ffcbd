"""Check every file of a channel, and say what is altered, missing or extra, and what to do about it.

Exit code 1 if there is anything. With --prune, first remove what publishers that lost a race left in the index.
"""

from __future__ import annotations

import argparse

from packyard.cli import output, preferences
from packyard.cli.channels import open_channel
from packyard.cli.rows import Rows
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.prune import prune

ROWS = Rows("finding", "kind, key, message, hint", line="{kind:<8} {key}: {message} ({hint})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    parser.add_argument("--prune", action="store_true", help="remove the nodes of the index that no head reaches")


def run(arguments: argparse.Namespace) -> int:
    """Check the channel; 1 if anything is wrong."""
    channel, trusted = open_channel(arguments.channel), preferences.trust(arguments.channel)
    if arguments.prune:
        for key in prune(channel, trusted):
            output.note(f"removed {key}")
    found = list(fsck.check(channel, trusted))
    if ROWS.show(found, arguments.output):
        output.note(f"{output.counted(len(found), 'finding')} in {channel.address}" if found else "nothing is wrong")
    return int(bool(found))
