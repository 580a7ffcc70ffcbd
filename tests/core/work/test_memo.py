from __future__ import annotations

from packyard.core.work.memo import Memo
from packyard.core.yaml.document import parse_shared
from packyard.core.yaml.node import Source


def test_makes_what_it_knows_only_once() -> None:
    source = Source("a.yaml", "a: b\n")
    assert parse_shared(source) is not parse_shared(source)
    memo = Memo()
    first = parse_shared(source, memo)
    assert parse_shared(Source("a.yaml", "a: b\n"), memo) is first
    assert parse_shared(Source("b.yaml", "a: b\n"), memo) is not first
    assert parse_shared(source, Memo()) is not first


def test_forgets_what_was_used_least_recently() -> None:
    made: list[str] = []
    memo = Memo(limit=2)

    def make(name: str) -> str:
        return memo.once(name, lambda: made.append(name) or name)

    assert [make(name) for name in "abacab"] == list("abacab")
    assert made == list("abcb")
