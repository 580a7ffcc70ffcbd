"""Take the last change below DIR back, one of `set`, `enable`, `disable` or `cfg`: files get their earlier bytes.

Again takes back the one before. Refused where one of the files was changed since.
"""

from __future__ import annotations

import argparse
import os

from packyard.cli import arguments as shared
from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.files.history import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser)
    shared.add_dry_run(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Take it back, and name the files."""
    directory = directories.only(arguments.words, "undo")
    history = state.history()
    if arguments.dry_run:
        entry = history.last(directory)
        entry.check_unchanged()
    else:
        entry = history.undo(directory)
    if arguments.output == "json":
        output.json_result([_document(entry)])
    elif arguments.dry_run:
        root_dir = directory.resolve()
        files = {os.path.relpath(file, root_dir): (entry.after[file], data) for file, data in entry.before.items()}
        output.diffs(directory, files)
    else:
        for file in sorted(entry.before):
            output.line(os.path.relpath(file))
        output.story(f"taken back: {entry.title}")
    return 0


def _document(entry: Entry) -> dict[str, object]:
    files = [
        {
            "file": os.path.relpath(file),
            "change": "removed" if data is None else "added" if entry.after[file] is None else "changed",
        }
        for file, data in sorted(entry.before.items())
    ]
    return {"title": entry.title, "files": files}
