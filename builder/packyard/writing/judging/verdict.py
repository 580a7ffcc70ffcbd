"""What one check of a package came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

State = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check of a package, ``where`` in it, what it came to, and why it failed or was skipped."""

    package: str
    check: str
    where: str
    state: State
    details: tuple[str, ...] = ()

    @classmethod
    def of(cls, package: str, check: str, where: str = "", *, details: Iterable[str] = ()) -> Verdict:
        """Return the verdict of a check that found these details: without any it has passed."""
        found = tuple(details)
        return cls(package, check, where, "failed" if found else "passed", found)

    @classmethod
    def skipped(cls, package: str, check: str, where: str, reason: str) -> Verdict:
        """Return the verdict of a check that could not be made."""
        return cls(package, check, where, "skipped", (reason,))
