"""How many cases a property or a generator tries: a tenth in `make test`, all in the nightly, FUZZ in `make fuzz`."""

from __future__ import annotations

import os

import sample

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))


def tries(all_of_them: int) -> int:
    """Return how many cases to try of so many; `make fuzz` may try more than all of them."""
    return FUZZ or (all_of_them if sample.WHOLE else all_of_them // 10)
