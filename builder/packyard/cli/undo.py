"""Take the last change below DIR back, one of `set`, `enable`, `disable` or `cfg`: files get their earlier bytes.

Again takes back the one before. Refused where one of the files was changed since.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from packyard.cli import output, state
from packyard.errors import on_one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".")
    parser.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Take it back, and name the files."""
    directory = Path(arguments.directory)
    history = state.history()
    if arguments.dry_run:
        entry = history.last(directory)
        entry.check_unchanged()
        for file, data in sorted(entry.before.items()):
            path = os.path.relpath(file, directory.resolve())
            sys.stdout.write(output.diff(entry.after[file], data, path))
        return 0
    entry = history.undo(directory)
    for file in sorted(entry.before):
        print(on_one_line(os.path.relpath(file)))
    output.story(f"taken back: {entry.title}")
    return 0
