"""Check every file of a channel, and say what is altered, missing or extra, and what to do about it.

Exit code 1 if there is anything. With --prune, first remove what publishers that lost a race left in the index.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from packyard.cli import arguments as shared
from packyard.cli import output, preferences
from packyard.cli.channels import open_channel
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.prune import prune


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    parser.add_argument("--prune", action="store_true", help="remove the nodes of the index that no head reaches")
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the channel; 1 if anything is wrong."""
    channel, trusted = open_channel(arguments.channel), preferences.trust(arguments.channel)
    if arguments.prune:
        for key in prune(channel, trusted):
            output.note(f"removed {key}")
    found = fsck.check(channel, trusted)
    if arguments.output == "json":
        rows = [asdict(each) for each in found]
        output.json_result(rows)
        return int(bool(rows))
    count = 0
    for each in found:
        count += 1
        output.line(f"{each.kind:<8} {each.key}: {each.message} ({each.hint})")
    output.note(f"{output.counted(count, 'finding')} in {channel.address}" if count else "nothing is wrong")
    return int(bool(count))
