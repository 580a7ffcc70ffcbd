"""Publish in one channel what another one has: the same bytes, with their provenance.

packyard promote FROM TO NAME@VERSION...
"""

from __future__ import annotations

import argparse

from packyard.cli import output, preferences
from packyard.cli.channels import COPIED, fetching, open_channel, row
from packyard.cli.sharing import signing
from packyard.sharing.publishing.promote import promote

ROWS = COPIED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="FROM", help="the channel that has the packages")
    parser.add_argument("target", metavar="TO", help="the channel that gets them")
    parser.add_argument("references", metavar="NAME@VERSION", nargs="+")
    signing.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Promote all of them, or none."""
    done = promote(
        open_channel(arguments.source),
        open_channel(arguments.target),
        arguments.references,
        keys=signing.keys(arguments.key),
        how=fetching(arguments.source),
        trusted=preferences.trust(arguments.target),
        memory=preferences.memory(arguments.target),
        tell=lambda proof: output.note(proof.said(preferences.key_names())),
    )
    ROWS.show([row(*each) for each in done], arguments.output)
    return 0
