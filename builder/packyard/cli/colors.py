"""Colors of what is printed on a terminal, by what they mean; never of what programs read.

A stream is colored where it is a terminal, unless TERM is ``dumb`` or NO_COLOR is set (https://no-color.org), and
anywhere where FORCE_COLOR is.
"""

import os
import sys

#: How a style looks on a terminal.
_CODES = {
    "heading": "1",
    "name": "36",
    "good": "32",
    "waiting": "1;33",
    "bad": "31",
    "error": "1;31",
    "warning": "1;33",
}
#: The styles of the lines of a diff, by how they begin; the first that fits counts.
DIFF = (("---", "heading"), ("+++", "heading"), ("@@", "name"), ("+", "good"), ("-", "bad"))
#: The styles of cells of a table that somebody has to do something about.
STATES = {"REQUIRED": "waiting", "failed": "bad", "failing": "bad", "Warning": "waiting"}


def used_on(stream: str) -> bool:
    """Say whether a stream, ``stdout`` or ``stderr``, is colored."""
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        return not os.environ.get("NO_COLOR")
    return getattr(sys, stream).isatty() and os.environ.get("TERM") != "dumb"


def painted(text: str, style: str, stream: str = "stdout") -> str:
    """Return text in the colors of a style, where its stream has any."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text and style and used_on(stream) else text
