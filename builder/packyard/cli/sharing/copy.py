"""Copy packages from one channel to another: to promote what was tried, or for networks that do not reach the first.

packyard copy FROM TO                 everything: TO is a mirror, the same
                                      channel with the same index
packyard copy FROM TO NAME NAME@^1.2  all versions of one package, and a range
                                      of another
packyard copy FROM TO NAME@1.2.0 ...  these versions: all of them or none, and
                                      none that is yanked

The bytes stay the same, with their provenance, SBOM and yanks. A part, or into a channel that has packages of its own,
is listed by an index of that channel, as is everything with --key; a mirror needs no key. Interrupted, the next run
goes on. Images are not copied: `packyard show NAME --images` lists them for crane or skopeo.
"""

from dataclasses import replace

from packyard.cli import bundles, declare, output, progress, signing
from packyard.cli.bundles import BUNDLES, fetching, open_channel
from packyard.sharing.publishing.copy import copy

ROWS = BUNDLES


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="FROM", help="the channel that has the packages")
    parser.add_argument("target", metavar="TO", help="the channel that gets them")
    parser.add_argument("references", metavar="NAME[@VERSION]", nargs="*", help="what is copied (default: all)")
    signing.add_argument(parser)


def run(arguments: declare.Arguments) -> None:
    """Copy what is missing; print a line for each bundle."""
    target = open_channel(arguments.target)
    with progress.busy(f"copying from {arguments.source}") as show:
        copied = copy(
            open_channel(arguments.source),
            target,
            arguments.references,
            how=replace(fetching(arguments.source), cache=None),  # TO has them then
            by=lambda: signing.publisher(arguments.target, arguments.key),
            is_own=bool(arguments.key),
            done=lambda number, count: show(f"{number} of {output.counted(count, 'package')} copied"),
        )
    bundles.show(target, copied, arguments.output)
