"""What `packyard set` changed, for programs, and what was edited by hand, for people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.core.errors import PackyardError
from packyard.using.options import option_setters

if TYPE_CHECKING:
    from packyard.using.options.layer import Layered
    from packyard.using.setters.change import Beside, PackageChange

_FIELDS = "package, counts, fields (file, line, column, path, setter=name, old, new, aliases)"
ROWS = Rows("package", _FIELDS)
SITE = Rows("package", f"{_FIELDS}, enabled, stayed", "--site")


def show(changes: Sequence[PackageChange], beside: Beside | None, form: str) -> None:
    """Print the packages in which something was set."""
    ROWS.show([_row(each, beside) for each in changes if each.plan.counts], form)


def show_site(layered: Layered, form: str) -> None:
    """Print all packages, with the options that are enabled and the setters that stay."""
    SITE.show(_rows(layered), form)


def tell_by_hand(directory: Path) -> None:
    """Warn of fields that were edited by hand, as far as the files can be read: kustomize needs not all of them."""
    try:
        hand_edits = option_setters.hand_edits(directory)
    except (PackyardError, OSError) as error:
        output.detail(f"fields that were edited by hand are not looked for: {error}")
        return
    for edit in hand_edits:
        output.warning(f"{edit} (packyard lint lists such fields)")


def _rows(layered: Layered) -> Iterator[tuple[Any, ...]]:
    for change in layered.changes:
        switched = layered.enabled.get(change.package)
        stayed = [setter.name for setter in layered.stayed[change.package]]
        yield *_row(change, layered.beside), switched.changed if switched else (), stayed


def _row(change: PackageChange, beside: Beside | None) -> tuple[Any, ...]:
    package = os.path.relpath(change.package or ".", beside.directory or ".") if beside else change.package or "."
    return package, change.plan.counts, change.plan.changes
