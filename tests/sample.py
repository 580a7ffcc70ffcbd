"""What `make test` runs of products that are too many: some of their cases, in which each part stands at least once.

`make soak` (PACKYARD_SOAK=1) runs all of them. The cases are chosen by a seed, packyard's version, so that an edit does
not choose others: what is red after it, it broke. A release has others, as has PACKYARD_SEED=WORD; pytest prints it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from hashlib import sha256
from typing import TypeVar

import packyard

Case = TypeVar("Case")

WHOLE = os.environ.get("PACKYARD_SOAK") == "1"
SEED = os.environ.get("PACKYARD_SEED") or packyard.__version__


def some(cases: Iterable[Case], parts: Callable[[Case], Iterable[Hashable]], *, of: str = "") -> list[Case]:
    """Return cases so that each part of any case is a part of one of them; other ``of`` choose others.

    The parts of a case name it: their ``repr`` says the same in every process.
    """
    cases = list(cases)
    if WHOLE:
        return cases
    of_case = [tuple(parts(case)) for case in cases]
    order = sorted(range(len(cases)), key=lambda index: sha256(f"{SEED} {of} {of_case[index]}".encode()).digest())
    chosen, seen = set(), set()
    for index in order:
        if not seen.issuperset(of_case[index]):
            seen.update(of_case[index])
            chosen.add(index)
    return [case for index, case in enumerate(cases) if index in chosen]
