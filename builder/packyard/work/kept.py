"""Results beside what was asked of the sources for them: what is found again is what would be made anew.

    key (what is to be done, by which code)  ->  for each of the last results: the facts it rests on, and where it is
    digest of the result                     ->  the result

A key leads to several results, so that going back to an earlier state of the sources finds the result of that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from packyard.digest import Digest
from packyard.work.cache import Cache
from packyard.work.reads import Fact, Observed, Reads

_LAST = 8  # results that one key remembers


class Kept:
    """The results in a cache, for sources that are as ``observed``."""

    def __init__(self, cache: Cache, observed: Observed) -> None:
        self.cache = cache
        self.observed = observed

    def find(self, key: Digest) -> bytes | None:
        """Return the result all of whose facts hold, or None."""
        for facts, result in self._known(key):
            if self.observed.agrees(facts):
                return self.cache.get(Digest(result))
        return None

    def keep(self, key: Digest, reads: Reads, data: bytes) -> None:
        """Keep a result, unless what it rests on changed while it was made."""
        if reads.torn:
            return
        result = Digest.of(data)
        known = [item for item in self._known(key) if item != (reads.facts, result)]
        self.cache.put(result, data)
        self.cache.put(key, json.dumps([(reads.facts, result), *known[: _LAST - 1]]).encode())

    def _known(self, key: Digest) -> Iterator[tuple[list[Fact], str]]:
        for facts, result in json.loads(self.cache.get(key) or b"[]"):
            yield [(question, name, answer) for question, name, answer in facts], result
