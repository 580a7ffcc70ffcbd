import pytest

from packyard.core.work import memo as memos
from packyard.core.work.memo import Memo


def test_forgets_what_was_used_least_recently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memos, "LIMIT", 2)
    made: list[str] = []
    memo = Memo()

    def make(name: str) -> str:
        return memo.once(name, lambda: made.append(name) or name)

    assert [make(name) for name in "abacab"] == list("abacab")
    assert made == list("abcb")
