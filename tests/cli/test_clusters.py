"""What verbs that meet a cluster share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from packyard.cli.running import ages, clusters
from packyard.cli.running.ages import age
from packyard.core.errors import UnavailableError


def test_a_server_that_starts_again_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clusters.time, "sleep", slept.append)
    answers = iter([UnavailableError("refused"), UnavailableError("refused"), "done"])

    def ask() -> str:
        answer = next(answers)
        if isinstance(answer, UnavailableError):
            raise answer
        return answer

    assert clusters.patiently(ask) == "done"
    assert slept == [1, 2]


def test_patience_ends(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clusters.time, "sleep", slept.append)

    def ask() -> None:
        raise UnavailableError("refused")

    with pytest.raises(UnavailableError, match="refused"):
        clusters.patiently(ask)
    assert sum(slept) == 31
    assert capsys.readouterr().err.startswith("asking again in 1 s: refused\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (3599, "59m"), (3725, "62m"), (7 * 3600, "7h"),
     (90000, "25h"), (40 * 86400 + 7200, "40d")],
)  # fmt: skip
def test_an_age_is_short(seconds: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Stopped:
            return cls(2026, 11, 22, tzinfo=tz)

    monkeypatch.setattr(ages, "datetime", Stopped)
    since = Stopped.now(UTC) - timedelta(seconds=seconds, milliseconds=100 if seconds >= 0 else 0)
    assert age(since.isoformat()) == said
