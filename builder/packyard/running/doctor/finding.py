"""What one question that the doctor asked of a cluster came to."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

#: An error keeps the run from starting or ending well; a warning may; ``unknown`` is what could not be seen from here.
Severity = Literal["error", "warning", "unknown", "passed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a question of the family ``check``: ``storage``, ``rights``.

    ``message`` says what was found, ``why`` what comes of it, ``fix`` is the command to type: each may be empty.
    """

    severity: Severity
    check: str
    about: str
    message: str = ""
    why: str = ""
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.about}: {self.message}" if self.message else self.about


passed = partial(Finding, "passed")
error = partial(Finding, "error")
warning = partial(Finding, "warning")
unknown = partial(Finding, "unknown")
