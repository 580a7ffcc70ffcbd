"""Arguments of verbs that are read by `argparse`: all but `set`, which has to start fast, and kustomize's own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from packyard.errors import UsageError


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of leaving the program."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line, with the verb's usage as the hint."""
        raise UsageError(f"{self.prog}: {message}\n{self.format_usage().rstrip()}")


def run(module: Any, verb: str, words: Sequence[str]) -> int:
    """Read the words by what the verb's module declares, and run it."""
    parser = Parser(prog=f"packyard {verb}", description=module.__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    module.add_arguments(parser)
    try:
        parsed = parser.parse_intermixed_args(words)
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    return int(module.run(parsed))
