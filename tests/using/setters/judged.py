"""The cases of tests/cases/judgement/: how values, patterns and rules are judged.

Each case has a verdict, and the words of it.
"""

import json
from typing import Any

import real

_FOLDER = real.REPOSITORY / "tests/cases/judgement"


def cases(name: str) -> Any:
    """Return the cases of a file: a list of lists of their parts, or a mapping by their names."""
    return json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
