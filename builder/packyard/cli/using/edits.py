"""What `packyard set` changed, for programs, and what was edited by hand, for people."""

from __future__ import annotations

from pathlib import Path

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.core.errors import PackyardError
from packyard.using.options import option_setters

ROWS = Rows(
    "package",
    "package, counts=plan.counts, fields=plan.changes (file, line, column, path, setter=name, old, new, aliases), "
    "enabled",
)


def tell_by_hand(directory: Path) -> None:
    """Warn of fields that were edited by hand, as far as the files can be read: kustomize needs not all of them."""
    try:
        hand_edits = option_setters.hand_edits(directory)
    except (PackyardError, OSError) as error:
        output.detail(f"fields that were edited by hand are not looked for: {error}")
        return
    for edit in hand_edits:
        output.warning(f"{edit} (packyard lint lists such fields)")
