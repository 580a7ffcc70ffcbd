"""Print packyard's version; -o json as JSON, -o yaml as YAML."""

from __future__ import annotations

from collections.abc import Sequence

from packyard import __version__
from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.cli.rows import FORMS, Rows
from packyard.core.errors import UsageError

ROWS = Rows("version", "version", line="packyard {version}")
FLAGS = Declared({"help": False}, {"output": FORMS}, {"h": "help", "o": "output"})


def main(words: Sequence[str]) -> int:
    """Print the version."""
    try:
        parsed = FLAGS.parse(words)
    except UsageError as error:
        raise UsageError(f"packyard version: {error}; type packyard version") from error
    form = parsed.text("output") or "text"
    if parsed.arguments or form not in FLAGS.values["output"]:
        raise UsageError("packyard version: it takes nothing but -o text|json|yaml; type packyard version")
    if parsed.switches["help"]:
        output.page(str(__doc__))
    else:
        ROWS.show([__version__], form)
    return 0
