"""Results beside what was asked of the sources for them: what is found again is what would be made anew.

    key (what is to be done, by which code)  ->  for each of the last results: the facts it rests on, and where it is
    digest of the result                     ->  the result

A key leads to several results, so that going back to an earlier state of the sources finds the result of that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from packyard.digest import Digest
from packyard.work.cache import Cache
from packyard.work.reads import Fact, Observed

_LAST = 8  # results that one key remembers


class Found(NamedTuple):
    """A result, and the facts that it rests on."""

    data: bytes
    facts: list[Fact]


class Kept:
    """The results in a cache, for sources that are as ``observed``."""

    def __init__(self, cache: Cache, observed: Observed) -> None:
        self.cache = cache
        self.observed = observed

    def find(self, key: Digest) -> Found | None:
        """Return the result all of whose facts hold, or None."""
        for facts, result in self._known(key):
            if self.observed.agrees(facts):
                data = self.cache.get(Digest(result))
                return None if data is None else Found(data, facts)
        return None

    def keep(self, key: Digest, facts: list[Fact], data: bytes) -> None:
        """Keep a result of a task that was not torn."""
        result = Digest.of(data)
        known = [item for item in self._known(key) if item != (facts, result)]
        self.cache.put(result, data)
        self.cache.put(key, json.dumps([(facts, result), *known[: _LAST - 1]]).encode())

    def _known(self, key: Digest) -> Iterator[tuple[list[Fact], str]]:
        for facts, result in json.loads(self.cache.get(key) or b"[]"):
            yield [(question, name, answer) for question, name, answer in facts], result
