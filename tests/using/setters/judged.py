"""The cases of tests/cases/judgement/: how values, patterns and rules are judged.

Each case has a verdict, and the words of it.
"""

from __future__ import annotations

import json
from typing import Any

import real

_FOLDER = real.REPOSITORY / "tests/cases/judgement"


def cases(name: str) -> list[Any]:
    """Return the cases of a file, each a list of its parts."""
    found: list[Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def mapping(name: str) -> dict[str, Any]:
    """Return the cases of a file by their names."""
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return found
