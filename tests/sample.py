"""What `make test` runs of products that are too many: some of their cases, in which each part stands at least once.

The nightly runs all of them (PACKYARD_WHOLE=1), but for those that ask clusters or run workloads. The cases are chosen
by a seed, packyard's version, so that an edit does not choose others: what is red after it, it broke. A release has
others, as has PACKYARD_SEED=WORD; pytest prints it.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from hashlib import sha256
from heapq import heapify, heappop, heappush
from itertools import count
from random import Random
from typing import TypeVar

import packyard

Case = TypeVar("Case")

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))
WHOLE = os.environ.get("PACKYARD_WHOLE") == "1"
SEED = os.environ.get("PACKYARD_SEED") or packyard.__version__


def some(cases: Iterable[Case], parts: Callable[[Case], Iterable[Hashable]], *, of: str = "") -> list[Case]:
    """Return few cases so that each part of any case is a part of one of them; other ``of`` choose others.

    The parts of a case name it: their ``repr`` says the same in every process.
    """
    cases = list(cases)
    if WHOLE:
        return cases
    of_case = [tuple(parts(case)) for case in cases]
    order = [sha256(f"{SEED} {of} {each}".encode()).digest() for each in of_case]
    queue = [(-len({*each}), order[index], index) for index, each in enumerate(of_case)]
    heapify(queue)
    chosen, seen = set[int](), set[Hashable]()
    while queue:  # the case with the most parts that none has yet is next
        before, _, index = heappop(queue)
        new = len({*of_case[index]} - seen)
        if new == -before:
            seen.update(of_case[index])
            chosen.add(index)
        elif new:
            heappush(queue, (-new, order[index], index))
    return [case for index, case in enumerate(cases) if index in chosen]


def places(step: int, *, of: str) -> Iterator[int]:
    """Count from 1 without end: all numbers in the nightly, else each ``step``-th, from one that ``of`` chooses."""
    first = 1 if WHOLE else Random(f"{SEED} {of}").randrange(1, step + 1)
    return count(first, 1 if WHOLE else step)


def tries(all_of_them: int) -> int:
    """Return how many cases of a property or a generator to try: a tenth, all in the nightly, FUZZ in `make fuzz`."""
    return FUZZ or (all_of_them if WHOLE else all_of_them // 10)
