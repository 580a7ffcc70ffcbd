"""Verbs whose arguments `argparse` parses: all but `set`, which must start fast, and kustomize's own commands."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NoReturn

from packyard.cli import arguments, output, rows, watch
from packyard.core.errors import UsageError, suggest


class Parser(argparse.ArgumentParser):
    """An argument parser that prints through `output`, and raises `UsageError` instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one sentence with what to type next."""
        message = message.removeprefix("argument ")
        missing = message.removeprefix("the following arguments are required: ")
        if missing != message:
            message = f"{missing} {'are' if ', ' in missing else 'is'} missing"
        raise UsageError(f"{self.prog}: {message}; {self.prog} --help shows the usage")

    def refuse_rest(self, words: Sequence[str]) -> None:
        """Refuse words that the verb does not take."""
        for word in words:
            if not word.startswith("-"):
                self.error(f"unexpected argument {word!r}")
            hint = suggest(word.partition("=")[0], [*self.flags(), "--help"])
            self.error(f"unknown flag {word!r}" + (f" ({hint})" if hint else ""))

    def flags(self) -> dict[str, Sequence[str] | None]:
        """Return the flags, each with the values to choose from: None where it takes no value."""
        return {
            name: None if action.nargs == 0 else [str(choice) for choice in action.choices or ()]
            for action in self._actions
            for name in action.option_strings
        }

    def _print_message(self, message: str, _file: object = None) -> None:
        output.page(message.rstrip("\n"))


def make(module: Any, verb: str) -> Parser:
    """Return a verb's parser, with the arguments that its module declares."""
    parser = Parser(prog=f"packyard {verb}", description=_wrapped(module.__doc__ or ""), allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    module.add_arguments(parser)
    rows.add_arguments(parser, module)
    arguments.add_verbosity(parser)
    return parser


def _wrapped(text: str) -> str:
    """Wrap paragraphs to the width of the terminal, but not examples: those are indented, or have aligned columns."""
    room = min(get_terminal_size().columns, 100) - 2
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(each if "  " in each else fill(each, room) for each in paragraphs)


def run(module: Any, verb: str, words: Sequence[str]) -> int:
    """Parse the words as the verb's module declares, and run it."""
    parser = make(module, verb)
    try:
        parsed, rest = parser.parse_known_intermixed_args(words)
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    parser.refuse_rest(rest)
    if parsed.quiet or parsed.verbose:
        watch.tell(quiet=parsed.quiet, verbose=parsed.verbose)
    with _ended_as_interrupted():
        return int(module.run(parsed))


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Take a request to end as Ctrl-C, so that programs that were started and temporary folders go, too.

    Another request does not disturb what is tidied up after the first.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
