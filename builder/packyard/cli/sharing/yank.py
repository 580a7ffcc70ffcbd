"""Mark a published version as one that nobody should use any more, and say why.

It stays in the channel: whoever asks for exactly that version gets it, with the reason. Nothing else chooses it.

packyard yank NAME@VERSION --reason TEXT --in CHANNEL
"""

from __future__ import annotations

import argparse

from packyard.cli import arguments as shared
from packyard.cli import output, preferences
from packyard.cli.channels import open_channel, row
from packyard.cli.sharing import signing
from packyard.sharing.publishing.yank import yank


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("reference", metavar="NAME@VERSION")
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why, in one line; users read it")
    parser.add_argument("--in", dest="channel", metavar="CHANNEL", required=True, help="the channel that has it")
    signing.add_argument(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Yank the version; once more changes nothing."""
    keys, trusted = signing.keys(arguments.key), preferences.trust(arguments.channel)
    channel = open_channel(arguments.channel)
    memory = preferences.memory(arguments.channel)
    entry, is_new = yank(channel, arguments.reference, arguments.reason, keys=keys, trusted=trusted, memory=memory)
    if arguments.output == "json":
        output.json_result([row(entry, "yanked" if is_new else "unchanged")])
        return 0
    output.line(f"{'yanked' if is_new else 'unchanged':<10} {entry}: {entry.yanked}")
    return 0
