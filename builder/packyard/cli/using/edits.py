"""What `packyard set` changed, for programs, and what was edited by hand, for people."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.core.errors import PackyardError
from packyard.using.options import option_setters

if TYPE_CHECKING:
    from packyard.using.options.switch import Switched
    from packyard.using.setters.change import Beside, PackageChange

ROWS = Rows("package", "package, counts, fields (file, line, column, path, setter=name, old, new, aliases), enabled")


def show(changes: Sequence[PackageChange], beside: Beside | None, enabled: Mapping[str, Switched], form: str) -> None:
    """Print the packages in which something was set, with the options that were enabled."""
    ROWS.show([_row(each, beside, enabled) for each in changes], form)


def tell_by_hand(directory: Path) -> None:
    """Warn of fields that were edited by hand, as far as the files can be read: kustomize needs not all of them."""
    try:
        hand_edits = option_setters.hand_edits(directory)
    except (PackyardError, OSError) as error:
        output.detail(f"fields that were edited by hand are not looked for: {error}")
        return
    for edit in hand_edits:
        output.warning(f"{edit} (packyard lint lists such fields)")


def _row(change: PackageChange, beside: Beside | None, enabled: Mapping[str, Switched]) -> tuple[Any, ...]:
    package = os.path.relpath(change.package or ".", beside.directory or ".") if beside else change.package or "."
    switched = enabled.get(os.path.realpath(change.before.where or "."))
    return package, change.plan.counts, change.plan.changes, switched.changed if switched else ()
