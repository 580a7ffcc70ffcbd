"""Printing findings: as text, as JSON, as SARIF, and as GitHub's workflow commands, which annotate a change."""

from __future__ import annotations

from collections.abc import Sequence

from packyard import __version__
from packyard.cli import output
from packyard.cli.rows import FORMS, Rows
from packyard.writing.checks import sarif
from packyard.writing.checks.finding import Finding

ROWS = Rows(
    "finding",
    "file, line, column, rule, severity, message, hint, composed, fix",
    forms=(*FORMS, "sarif", "github"),
)


def show(findings: Sequence[Finding], form: str) -> None:
    """Print findings in a form."""
    if form == "sarif":
        output.json_object(sarif.document(findings, __version__))
    elif ROWS.show(findings, form):
        for each in findings:
            output.line(str(each) if form == "text" else _command(each))
            if form == "text" and each.composed:
                output.line(f"  composed: {each.composed}")


def _command(each: Finding) -> str:
    """Return the command that annotates a line: ``::error file=…,line=…,title=…::message``."""
    where = {"file": each.file, "line": each.line, "col": each.column, "title": each.rule}
    values = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in where.items() if value)
    text = f"{each.message} ({each.hint})" if each.hint else each.message
    return f"::{each.severity} {values}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
