"""Remove old versions from a channel, for ever: those that a policy names, of all packages or of some.

packyard gc CHANNEL --keep 3 --dry-run  say what is older than the newest three
                                        versions of its package
packyard gc CHANNEL NAME --yanked       remove yanked versions of one package

The latest version of a package stays, and so does what is in a release that is not closed (packyard publish --close).
What is removed can never be published again, and whoever asks for it is told why.
"""

from packyard.cli import declare, output, signing
from packyard.cli.bundles import open_channel
from packyard.cli.rows import Rows
from packyard.core.errors import UsageError
from packyard.sharing.publishing.withdrawal import Policy, gc

ROWS = Rows(
    "version",
    "name=entry.name, version=entry.version, tar=entry.tar, status, reason",
    line="{status:<7} {name}@{version}: {reason}",
)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL")
    parser.add_argument("names", metavar="NAME", nargs="*", help="the packages to look at (default: all)")
    text = "name what is older than the newest N versions that are neither yanked nor pre-releases"
    parser.value("--keep N", text, type=int)
    parser.switch("--yanked", "name what was yanked")
    parser.switch("--pre-releases", "name pre-releases, such as 2.0-rc1")
    parser.switch("--dry-run", "only say what would be removed, and what stays")
    signing.add_argument(parser)


def run(arguments: declare.Arguments) -> None:
    """Remove what the policy names; print a line for each version that it names."""
    policy = Policy(keep=max(arguments.keep or 0, 0), yanked=arguments.yanked, pre_releases=arguments.pre_releases)
    if policy == Policy():
        raise UsageError("packyard gc: say what may go, by --keep N, --yanked or --pre-releases; packyard gc --help")
    by = signing.publisher(arguments.channel, arguments.key, is_trial=arguments.dry_run)
    removed = gc(open_channel(arguments.channel), policy, arguments.names, is_trial=arguments.dry_run, by=by)
    if ROWS.show(removed, arguments.output) and not removed:
        output.note("nothing to remove")
