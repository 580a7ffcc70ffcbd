"""Results beside what was asked of the sources for them: what is found again is what would be made anew.

    key (what is to be done, by which code)  ->  for each of the last results: the facts it rests on, and where it is
    digest of the result                     ->  the result

A key leads to several results, so that going back to an earlier state of the sources finds the result of that.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from packyard.digest import Digest
from packyard.errors import PackyardError
from packyard.work.cache import Cache
from packyard.work.reads import Fact, Observed

Result = TypeVar("Result")

_LAST = 8  # results that one key remembers

#: What reading an entry may come to that is of another form than ours: the result is made anew.
_FOREIGN = (PackyardError, ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)


@dataclass(frozen=True, slots=True)
class Found(Generic[Result]):
    """A result, and the facts that it rests on."""

    result: Result
    facts: list[Fact]


class Kept:
    """The results in a cache, for sources that are as ``observed``."""

    def __init__(self, cache: Cache, observed: Observed) -> None:
        self.cache = cache
        self.observed = observed

    def find(self, key: Digest, parse: Callable[[bytes], Result]) -> Found[Result] | None:
        """Return the result all of whose facts hold, as ``parse`` reads it, or None; also where it cannot be read."""
        try:
            for facts, result in self._known(key):
                if self.observed.agrees(facts):
                    data = self.cache.get(Digest.parse(result))
                    return None if data is None else Found(parse(data), facts)
        except _FOREIGN:
            return None
        return None

    def keep(self, key: Digest, facts: list[Fact], data: bytes) -> None:
        """Keep a result of a task that was not torn."""
        result = Digest.of(data)
        try:
            known = [item for item in self._known(key) if item != (facts, result)]
        except _FOREIGN:
            known = []
        self.cache.put(result, data)
        self.cache.put(key, json.dumps([(facts, result), *known[: _LAST - 1]]).encode())

    def _known(self, key: Digest) -> Iterator[tuple[list[Fact], str]]:
        for facts, result in json.loads(self.cache.get(key) or b"[]"):
            yield [(str(question), str(name), str(answer)) for question, name, answer in facts], result
