"""Search a channel by words in names, models, categories and descriptions; a package has to have all of them.

A word finds what begins with it: `packyard search resnet fp32 train`.
"""

from __future__ import annotations

import argparse

from packyard.cli import arguments as shared
from packyard.cli import output, preferences
from packyard.cli.channels import listed
from packyard.cli.rows import Rows
from packyard.core.bundle.manifest import LIBRARY
from packyard.sharing.index.search import MOST, search

ROWS = Rows(
    "package",
    "name, version=latest.version, model, description",
    columns="NAME, LATEST=version, DESCRIPTION",
    prose=1,
    wide=None,
    bare=True,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="WORD", nargs="+")
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="a directory or an http(s) address")
    shared.add_libraries(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the packages that were found, a row for each; 1 if there is none."""
    address = preferences.required_channel(arguments.channel).value
    found = search(listed(address), arguments.words, kind=LIBRARY if arguments.libraries else "")
    ROWS.show(found.packages, arguments.output, wide=arguments.wide)
    if not found.is_all:
        output.note(f"there may be more than these: at most {MOST} are shown; give more words")
    elif not found.packages:
        output.note(f"no {'library' if arguments.libraries else 'package'} has all of these words")
    return int(not found.packages)
