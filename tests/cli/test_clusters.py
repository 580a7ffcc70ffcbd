"""What verbs that meet a cluster share."""

import pytest

from packyard.cli.running import clusters
from packyard.core.errors import UnavailableError
from tiny import packyard


@pytest.mark.parametrize("verb", ["run", "deploy", "doctor"])
def test_what_is_wrong_with_values_is_said_without_a_cluster(verb: str) -> None:
    found = packyard(verb, "llm-serving/one-node", "-n", "ml", PATH="")
    assert f"PVC_NAME is not set: Name of the claim. (packyard {verb} llm-serving/one-node --n" in found.stderr


def test_a_server_that_starts_again_is_asked_again_for_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clusters.time, "sleep", slept.append)
    answers = iter([*[UnavailableError("refused")] * 2, "done", *[UnavailableError("refused")] * 9])

    def ask() -> str:
        answer = next(answers)
        if isinstance(answer, UnavailableError):
            raise answer
        return answer

    assert clusters.patiently(ask) == "done"
    assert slept == [1, 2]
    with pytest.raises(UnavailableError, match="refused"):
        clusters.patiently(ask)
    assert sum(slept) == 3 + 31
