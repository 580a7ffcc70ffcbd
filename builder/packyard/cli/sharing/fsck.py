"""Check every file of a channel, and say what is altered, missing, extra or unreadable, and what to do about it.

packyard fsck CHANNEL           check; the exit code is 1 if anything is wrong
packyard fsck CHANNEL --repair  first make the index again, from the bundles and
                                the records beside them
packyard fsck CHANNEL --prune   first remove what publishers that lost a race
                                left in the index

With --repair every bundle is read and checked before anything is written: if one is damaged, nothing changes.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from shlex import quote

from packyard.cli import declare, output, preferences
from packyard.cli.channels import open_channel, publisher, tell_wait
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.core.errors import UsageError
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.prune import prune
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.stores.store import Store

_CHANNEL = re.compile(r"\bCHANNEL\b")
ROWS = Rows("finding", "kind, key, message, hint", line="{kind:<8} {key}: {message} ({hint})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    declare.switch(parser, "--repair", "first make the index again, under a new head")
    declare.switch(parser, "--prune", "first remove the nodes of the index that no head reaches")
    signing.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the channel, repaired where that is asked for; 1 if anything is wrong."""
    if arguments.key and not arguments.repair:
        raise UsageError("packyard fsck: --key signs the index that --repair makes; add --repair: packyard fsck --help")
    channel, trusted = open_channel(arguments.channel), preferences.trust(arguments.channel)
    if arguments.repair:
        _repair(channel, arguments)
    if arguments.prune:
        for key in prune(channel, trusted, tell_wait):
            output.note(f"removed {key}")
    typed = quote(arguments.channel)
    findings = [replace(each, hint=_CHANNEL.sub(lambda _: typed, each.hint)) for each in fsck.check(channel, trusted)]
    if ROWS.show(findings, arguments.output):
        output.note(
            f"{output.counted(len(findings), 'finding')} in {channel.address}" if findings else "nothing is wrong"
        )
    return int(bool(findings))


def _repair(channel: Store, arguments: argparse.Namespace) -> None:
    bundles: list[str] = []
    by = publisher(arguments.channel, signing.keys(arguments.key))
    rebuilt, skipped = reindex(channel, by, done=bundles.append)
    for key in skipped:
        output.note(f"{key} has no checksum: its publish was interrupted; publish it again")
    output.note(f"the index was made again: head {rebuilt.head.number} lists {output.counted(len(bundles), 'bundle')}")
