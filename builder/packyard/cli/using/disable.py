"""Switch options of the use case DIR off again: their lines of its kustomization go. Values that were set stay set."""

from __future__ import annotations

import argparse
from shlex import quote

from packyard.cli.using import enable
from packyard.core.errors import UsageError
from packyard.core.files.tree import Keep
from packyard.using.options.switch import Switched, disable_below

add_arguments, ROWS = enable.add_arguments, enable.ROWS


def run(arguments: argparse.Namespace) -> int:
    """Disable options."""
    directory, names = enable.split(arguments, "disable")
    if not names:
        raise UsageError(f"packyard disable: no option is named; packyard enable {quote(str(directory))} lists them")

    def act(keep: Keep) -> dict[str, Switched]:
        below = enable.use_cases(directory) if arguments.recurse_subpackages else [""]
        return disable_below(directory, below, names, dry_run=arguments.dry_run, keep=keep)

    return enable.change(arguments, directory, names, "disable", act)
