"""Print packyard's version."""

from __future__ import annotations

from collections.abc import Sequence

from packyard import __version__
from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.cli.rows import FORMS, Rows
from packyard.core.errors import UsageError

ROWS = Rows("version", "version", line="packyard {version}")
FLAGS = Declared({"help": False}, {"output": FORMS}, {"h": "help", "o": "output"}, as_kustomize=False)
_TEXTS = {"output {text,json,yaml}": "output format (default: text)"}


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
        from packyard.cli import parser  # the version is printed many times more often

        output.page(parser.page("packyard version", "", str(__doc__), FLAGS, _TEXTS))
    else:
        ROWS.show([__version__], form)
    return 0
