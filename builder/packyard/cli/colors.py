"""Colors of what is printed on a terminal, by what they mean; never of what programs read.

``--color=always`` colors pipes too, ``--color=never`` nothing. Otherwise a stream is colored where it is a terminal,
unless TERM is ``dumb`` or NO_COLOR is set: https://no-color.org.
"""

from __future__ import annotations

import os
import sys
from functools import cache

MODES = ("auto", "always", "never")
#: What is colored, and how, in the words of `rich`.
STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "heading": "bold",
    "name": "cyan",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
    "good": "green",
    "waiting": "bold yellow",
    "bad": "red",
}
#: The styles of the lines of a diff, by how they begin; the first that fits counts.
DIFF = (("---", "heading"), ("+++", "heading"), ("@@", "hunk"), ("+", "added"), ("-", "removed"))
#: The styles of cells of a table that say how something is.
STATES = {
    "REQUIRED": "waiting",
    "starting": "waiting",
    "incomplete": "waiting",
    "pending": "waiting",
    "waiting": "waiting",
    "warning": "waiting",
    "running": "good",
    "succeeded": "good",
    "finished": "good",
    "passed": "good",
    "ready": "good",
    "failed": "bad",
    "failing": "bad",
    "error": "bad",
    "(yanked)": "bad",
}

#: When to color; set from the command line.
mode = "auto"


def used_on(stream: str) -> bool:
    """Say whether a stream, ``stdout`` or ``stderr``, is colored."""
    if mode != "auto":
        return mode == "always"
    return getattr(sys, stream).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, style: str, stream: str = "stdout") -> str:
    """Return text in the colors of a style of `STYLES`, where its stream has any."""
    if not text or not style or not used_on(stream):
        return text
    start, end = _codes(style)
    return f"{start}{text}{end}"


@cache
def _codes(style: str) -> tuple[str, str]:
    from rich.color import ColorSystem
    from rich.style import Style  # slow to import, and of no use in a pipe

    start, _, end = Style.parse(STYLES[style]).render("\0", color_system=ColorSystem.STANDARD).partition("\0")
    return start, end
