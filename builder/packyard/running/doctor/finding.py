"""What one question that the doctor asked of a cluster came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: An error keeps the run from starting or ending well; a warning may; ``unknown`` is what could not be seen from here.
Severity = Literal["error", "warning", "unknown", "passed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The answer to a question of the family ``check``: ``storage``, ``rights``.

    ``message`` says what was found, ``why`` what comes of it, ``fix`` is the command to type: each may be empty.
    """

    check: str
    severity: Severity
    about: str
    message: str = ""
    why: str = ""
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.about}: {self.message}" if self.message else self.about


def passed(check: str, about: str) -> Finding:
    """Return the finding that all is well."""
    return Finding(check=check, severity="passed", about=about)


def error(check: str, about: str, message: str, *, why: str = "", fix: str = "") -> Finding:
    """Return the finding of what keeps a run from starting or from ending well."""
    return Finding(check=check, severity="error", about=about, message=message, why=why, fix=fix)


def warning(check: str, about: str, message: str, *, why: str = "", fix: str = "") -> Finding:
    """Return the finding of what may do harm."""
    return Finding(check=check, severity="warning", about=about, message=message, why=why, fix=fix)


def unknown(check: str, about: str, message: str, *, why: str = "", fix: str = "") -> Finding:
    """Return the finding that something cannot be seen from here."""
    return Finding(check=check, severity="unknown", about=about, message=message, why=why, fix=fix)
