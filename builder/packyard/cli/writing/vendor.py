"""Copy the libraries of the workspace into it, to libraries/NAME, and pin them.

packyard vendor          all of them
packyard vendor NAME     one

Copies are used instead of what they were made of, and are checked against packyard.lock: to change them, use
`packyard update`. kustomize reads them, so that it builds every base of the workspace. To go back, delete them.
"""

from __future__ import annotations

import argparse

from packyard.cli import libraries, output, workspaces
from packyard.cli.rows import Rows
from packyard.writing.authoring import vendor

ROWS = Rows("copy of a library", "directory", line="{directory}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    libraries.add_names(parser)
    workspaces.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy libraries and pin those that were not; print the new folders."""
    here = workspaces.find(arguments)
    listed = libraries.named(here.root_dir, arguments.names)
    wanted = [each for each in here.libraries if each.name in {entry.name for entry in listed}]
    copied = vendor.copy(here.root_dir, wanted)
    pins = {each.name: each.pin for each in here.libraries if each.pin}
    pins |= {each.name: libraries.newest(each, here.root_dir)[1] for each in listed if each.name not in pins}
    libraries.pin(here.root_dir, pins, wanted)
    if ROWS.show(copied, arguments.output) and not copied:
        output.note("all libraries are copied already")
    return 0
