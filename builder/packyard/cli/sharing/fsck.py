"""Check every file of a channel, and say what is altered, missing, extra or unreadable, and what to do about it.

packyard fsck CHANNEL           check; the exit code is 1 if anything is wrong
packyard fsck CHANNEL --repair  first list again what is whole and not listed
packyard fsck CHANNEL --repair --remove
                                also remove what nothing lists then

Records that can be read stay as they are. Of one that is lost, what was yanked or removed is lost, too.
"""

from dataclasses import replace
from shlex import quote

from packyard.cli import declare, output, preferences, signing
from packyard.cli.bundles import listed, open_channel, signed
from packyard.cli.rows import Rows
from packyard.sharing.publishing import fsck
from packyard.sharing.stores.store import Store

ROWS = Rows("finding", "kind, key, message, hint", line="{kind:<8} {key}: {message} ({hint})")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    parser.switch("--repair", "first list again what is whole and not listed")
    parser.switch("--remove", "of --repair: remove what nothing lists then")
    signing.add_argument(parser)


def run(arguments: declare.Arguments) -> int:
    """Check the channel, repaired where that is asked for; 1 if anything is wrong."""
    channel, trusted = open_channel(arguments.channel), preferences.trust(arguments.channel)
    if arguments.repair:
        _repair(channel, arguments)
    else:
        declare.alone(arguments, "fsck", "without --repair", "key", "remove")
    typed = quote(arguments.channel)
    findings = [replace(item, hint=item.hint.replace("CHANNEL", typed)) for item in fsck.check(channel, trusted)]
    if ROWS.show(findings, arguments.output):
        count = f"{output.counted(len(findings), 'finding')} in {channel.address}"
        output.note(count if findings else "nothing is wrong")
        output.note(*(() if findings else signed(arguments.channel, listed(arguments.channel, channel))))
    return int(bool(findings))


def _repair(channel: Store, arguments: declare.Arguments) -> None:
    by = signing.publisher(arguments.channel, arguments.key)
    index, listed, removed = fsck.repair(channel, by, is_removing=arguments.remove)
    output.note(*(f"{what} is listed again" for what in listed), *(f"removed {key}" for key in removed))
    output.note(f"the index lists what is whole: its number is {index.number}")
