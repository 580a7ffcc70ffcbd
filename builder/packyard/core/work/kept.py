"""Finds cached results whose recorded facts still hold: a cache hit equals a rebuild.

    key (what is to be done, by which code)  ->  for each of the last results: the facts it rests on, and where it is
    digest of the result                     ->  the result

A key leads to several results, so that going back to an earlier state of the sources finds the result of that.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, UnavailableError
from packyard.core.work.cache import Cache

Result = TypeVar("Result")

#: A question, what it was asked about, and the answer.
Fact = tuple[str, str, str]

_LAST = 8  # results that one key remembers

#: What reading an entry of another form than ours may raise: the result is made again.
_FOREIGN = (PackyardError, ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)


@dataclass(frozen=True, slots=True)
class KeptResult(Generic[Result]):
    """A result, and the facts that it rests on."""

    result: Result
    facts: list[Fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The results in a cache (None: there are none, and none is kept) that some code made.

    ``agrees`` says whether all of some facts still hold. Keys are a few words that say what is to be done.
    """

    cache: Cache | None
    code: Digest | None
    agrees: Callable[[Iterable[Fact]], bool]

    def find(self, words: tuple[str, ...], parse: Callable[[bytes], Result]) -> KeptResult[Result] | None:
        """Return the result all of whose facts hold, as ``parse`` reads it, or None; also where it cannot be read."""
        try:
            for facts, result in self._known(words):
                if self.cache and self.agrees(facts):
                    data = self.cache.get(Digest.parse(result))
                    return None if data is None else KeptResult(parse(data), facts)
        except _FOREIGN:
            return None
        return None

    def keep(self, words: tuple[str, ...], facts: list[Fact], to_bytes: Callable[[], bytes]) -> str:
        """Keep a result of a task that was not torn; return why it cannot be kept, if so."""
        if self.cache is None:
            return ""
        data = to_bytes()
        result = Digest.of(data)
        try:
            earlier = [item for item in self._known(words) if item != (facts, result)]
        except _FOREIGN:
            earlier = []
        try:
            self.cache.put(result, data)
            self.cache.put(self.key(words), json.dumps([(facts, result), *earlier[: _LAST - 1]]).encode())
        except UnavailableError as error:
            return str(error)
        return ""

    def key(self, words: tuple[str, ...]) -> Digest:
        """Return the key of what these words say."""
        return Digest.of(repr((self.code, *words)).encode())

    def _known(self, words: tuple[str, ...]) -> Iterator[tuple[list[Fact], str]]:
        data = self.cache.get(self.key(words)) if self.cache else None
        for facts, result in json.loads(data or b"[]"):
            yield [(str(question), str(name), str(answer)) for question, name, answer in facts], result
