"""Printing: all that verbs print goes through here.

Results go to stdout; messages and problems go to stderr. Text for people is cleaned: text from a package, a channel or
a file name cannot move the cursor, start a line or reorder text. `data` and `json` are for programs, and exact, as
what `unified` prints.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from packyard.cli import colors, streams
from packyard.core.errors import PackyardError, on_one_line

#: Whether messages are printed, and whether details are, such as the programs that packyard runs; see `choose`.
quiet = False
verbose = False

#: How text is broken: between its words alone.
_WORDS: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_READABLE = 24  # columns that the last column of a table needs


def choose(*, is_quiet: bool = False, is_verbose: bool = False) -> None:
    """Print less, or more, from now on. Of programs Python's audit events tell, so that no part of packyard has to."""
    global quiet, verbose
    if is_verbose and not verbose:
        sys.addaudithook(_see)
    quiet, verbose = quiet or is_quiet, verbose or is_verbose


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("subprocess.Popen", "os.exec"):
        import os
        import shlex

        executable, words, *_ = arguments
        listed = words if isinstance(words, list | tuple) else [words or executable]
        detail(f"runs {shlex.join(os.fsdecode(str(word)) for word in listed)}")


def line(*texts: str) -> None:
    """Print a result, each text in one line."""
    for text in texts:
        streams.write(encoded(on_one_line(text) + "\n"))


def page(text: str) -> None:
    """Print a result of several lines: help, a table of kustomize's."""
    streams.write(encoded(_cleaned(text) + "\n"))


def data(content: bytes) -> None:
    """Print a result byte for byte, such as manifests."""
    streams.write(content)


def read(what: str) -> bytes:
    """Return all of standard input; at a terminal, first print what is expected."""
    if sys.stdin.isatty():
        note(f"reading {what} from the terminal, up to Ctrl-D")
    return streams.read()


def on_terminal() -> bool:
    """Say whether results are printed on a terminal."""
    return sys.stdout.isatty()


def can_ask() -> bool:
    """Say whether there is somebody at a terminal to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(prompt: str) -> bool:
    """Ask a question on the terminal, and say whether the answer is yes; where there is none, it is no."""
    return ask(f"{prompt} [y/N] ").lower() in ("y", "yes")


def ask(prompt: str) -> str:
    """Ask for a line on the terminal; an empty text where there is none."""
    if not can_ask():
        return ""
    streams.write(encoded(_cleaned(prompt)), "stderr")
    return sys.stdin.readline().strip()


def note(*texts: str) -> None:
    """Print messages on stderr, each in one line, unless quiet."""
    for text in () if quiet else texts:
        streams.write(encoded(masked(on_one_line(text)) + "\n"), "stderr")


def is_watched() -> bool:
    """Say whether somebody at a terminal sees messages as they come."""
    return sys.stderr.isatty() and not quiet


def detail(*texts: str) -> None:
    """Print messages that only ``--verbose`` asks for."""
    for text in texts if verbose else ():
        streams.write(encoded(masked(on_one_line(text)) + "\n"), "stderr")


def problem(text: str) -> None:
    """Print a problem on stderr, even when quiet."""
    marked("error", text)


def warning(*texts: str) -> None:
    """Print what does not keep the command from its work on stderr, even when quiet."""
    for text in texts:
        marked("warning", text)


def marked(mark: str, text: str) -> None:
    """Print a message behind its mark. Further lines are indented, so that they do not look like other messages."""
    first, *more = masked(_cleaned(text)).split("\n")
    lines = [first, *(f"  {line}" if line and not line.startswith("  ") else line for line in more)]
    _on_stderr(f"{colors.painted(f'{mark}:', mark, 'stderr')} " + "\n".join(lines))


def notice(text: str) -> None:
    """Print what is neither a problem nor a warning on stderr, even when quiet."""
    _on_stderr(masked(_cleaned(text)))


def _on_stderr(text: str) -> None:
    """Do not fail if stderr is closed."""
    try:
        streams.write(encoded(text + "\n"), "stderr")
    except (PackyardError, streams.Closed):
        return


def refusal(error: PackyardError) -> None:
    """Print every problem of an error."""
    for fault in error.problems:
        problem(str(fault))
        if fault.detail:
            detail(fault.detail)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 error``, ``2 errors``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def filled(text: str, first: str = "", rest: str = "") -> list[str]:
    """Return the lines of a text between its words, as the terminal has room; ``first`` and ``rest`` begin them."""
    from shutil import get_terminal_size
    from textwrap import wrap

    return wrap(text, min(get_terminal_size().columns, 100), initial_indent=first, subsequent_indent=rest, **_WORDS)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below a header, if there are any; nothing in them is cut.

    In a pipe every row is one line; on a terminal the text of the last column is broken between its words.
    """
    if not rows:
        return
    from shutil import get_terminal_size
    from textwrap import wrap

    from rich.cells import cell_len

    table = [[on_one_line(cell) for cell in row] for row in (columns, *rows)]
    most = max(get_terminal_size().columns // 3, _READABLE) if on_terminal() else sys.maxsize
    lengths = [[*map(cell_len, column)] for column in zip(*table, strict=True)][:-1]
    widths = [max((length for length in column if length <= most), default=0) for column in lengths[1:]]
    widths = [*(max(column) for column in lengths[:1]), *widths]
    indent = sum(widths) + 2 * len(widths)
    room = max(get_terminal_size().columns - indent, _READABLE) if on_terminal() else 0
    for number, (*first, last) in enumerate(table):
        beside = "".join(
            _painted(number, place, text) + " " * (widths[place] - cell_len(text) + 2)
            for place, text in enumerate(first)
        )
        if any(cell_len(text) > width for text, width in zip(first, widths, strict=True)):  # the last goes below
            streams.write(encoded(beside.rstrip() + "\n"))
            beside = " " * indent
        texts = wrap(last, room, **_WORDS) if room else [last]
        for text in texts or [""]:
            streams.write(encoded((beside + _painted(number, len(first), text)).rstrip() + "\n"))
            beside = " " * indent


def _painted(row: int, column: int, text: str) -> str:
    """Color what a reader looks for in a table: the header, names, states, and what must be set."""
    return colors.painted(text, colors.STATES.get(text, "" if column else "name") if row else "heading")


def json(value: object) -> None:
    """Print a value as JSON; what is not printable ASCII is escaped, as it may act on a terminal."""
    from json import dumps

    streams.write(dumps(value, indent=2, default=str).replace("\x7f", "\\u007f").encode() + b"\n")


def _cleaned(text: str) -> str:
    return text if text.isprintable() else "\n".join(map(on_one_line, text.split("\n")))


def masked(text: str) -> str:
    """Hide the user and password of addresses, credentials in their queries, and those of a header."""
    if "://" not in text and "uthorization" not in text.lower():
        return text
    import re

    text = re.sub(r"(\w://)[^/?#\s]*@", r"\1***@", text)
    secrets = r"([?&][\w-]*(?:token|secret|signature|password|credential|key)[\w-]*=)(?!\*\*\*)[^&\s]*"
    text = re.sub(secrets, r"\1***", text, flags=re.IGNORECASE)
    return re.sub(r"(\bauthorization\"?\s*[:=]\s*)[^\n]*", r"\1***", text, flags=re.IGNORECASE)


def encoded(text: str) -> bytes:
    """Return a text as it is printed: what UTF-8 has no bytes for is escaped."""
    return text.encode("utf-8", "backslashreplace")
