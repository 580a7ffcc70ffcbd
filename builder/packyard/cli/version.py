"""Print packyard's version; -o json as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from packyard import __version__
from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.core.errors import UsageError

FLAGS = Declared({"help": False}, {"output": ("text", "json")}, {"h": "help", "o": "output"})


def main(words: Sequence[str]) -> int:
    """Print the version."""
    try:
        parsed = FLAGS.parse(words)
    except UsageError as error:
        raise UsageError(f"packyard version: {error}; type packyard version") from error
    form = parsed.text("output") or "text"
    if parsed.arguments or form not in FLAGS.values["output"]:
        raise UsageError("packyard version: it takes nothing but -o text|json; type packyard version")
    if parsed.switches["help"]:
        output.page(str(__doc__))
    elif form == "json":
        output.json_result([{"version": __version__}])
    else:
        output.line(f"packyard {__version__}")
    return 0
