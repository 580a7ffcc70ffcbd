from __future__ import annotations

from packyard.core.work.memo import Memo


def test_forgets_what_was_used_least_recently() -> None:
    made: list[str] = []
    memo = Memo(limit=2)

    def make(name: str) -> str:
        return memo.once(name, lambda: made.append(name) or name)

    assert [make(name) for name in "abacab"] == list("abacab")
    assert made == list("abcb")
