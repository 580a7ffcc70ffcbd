"""Mark a published version as one that nobody should use any more, and say why.

It stays in the channel: whoever asks for exactly that version gets it, with the reason. Nothing else chooses it.
"""

from packyard.cli import declare, signing
from packyard.cli.bundles import DONE, open_channel, row
from packyard.cli.rows import Rows
from packyard.sharing.publishing.withdrawal import yank

ROWS = Rows("package", DONE, line="{status:<10} {name}@{version}: {yanked}")
EXAMPLE = "packyard yank NAME@VERSION --reason TEXT --from CHANNEL"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("reference", metavar="NAME@VERSION")
    parser.value("--reason TEXT", "why, in one line; users read it", required=True)
    parser.value("--from CHANNEL", "the channel that has it", dest="channel", required=True)
    parser.former("--in", "--from")
    signing.add_argument(parser)


def run(arguments: declare.Arguments) -> None:
    """Yank the version; once more changes nothing."""
    by = signing.publisher(arguments.channel, arguments.key)
    entry, is_new = yank(open_channel(arguments.channel), arguments.reference, arguments.reason, by)
    ROWS.show([row(entry, "yanked" if is_new else "unchanged")], arguments.output)
