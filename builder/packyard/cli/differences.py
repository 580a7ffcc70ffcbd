"""Prints what differs between packages, for every verb that compares some."""

from __future__ import annotations

from collections.abc import Mapping

from packyard.cli import output
from packyard.cli.rows import FORMS, Rows
from packyard.using.upgrade import report
from packyard.using.upgrade.difference import Change

FIELDS = "package, where, what, name, path, change, before, after, setter, note, breaking"
ROWS = Rows("difference", FIELDS, forms=(*FORMS, "markdown"))


def show(by_package: Mapping[str, tuple[Change, ...]], form: str) -> None:
    """Print what differs between packages."""
    if form == "markdown":
        output.page(report.markdown(by_package))
    elif ROWS.show(documents(by_package), form):
        for line in report.text(by_package):
            output.line(line)


def documents(by_package: Mapping[str, tuple[Change, ...]]) -> list[dict[str, object]]:
    """Return what differs between packages as JSON has it."""
    return [report.document(name, each) for name, changes in by_package.items() for each in changes]


def breaking(by_package: Mapping[str, tuple[Change, ...]]) -> str:
    """Say how many changes break something, if any do."""
    number = sum(each.is_breaking for changes in by_package.values() for each in changes)
    return f"; {number} BREAKING" if number else ""
