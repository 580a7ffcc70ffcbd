"""Expressions of strangers have bounds of time and memory, and the next ones are answered nevertheless."""

from pathlib import Path

import pytest

from packyard.writing.checks.cel import Evaluator, NoAnswer

LONG = "'a'" + f".replace('a', '{'a' * 100}')" * 3
TURNS = f"[{','.join(map(str, range(90)))}]"
HOSTILE = {
    "time": f"cel.bind(x, {LONG}, {TURNS}.all(a, {TURNS}.all(b, x.replace('a', 'b') != '')))",
    "memory": LONG + f".replace('a', '{'a' * 1000}')",
}


@pytest.fixture
def evaluator() -> Evaluator:
    return Evaluator()


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
def test_what_takes_too_much_has_no_answer_and_the_others_have(expression: str, evaluator: Evaluator) -> None:
    asked = [(each, {"self": {"a": 1}}) for each in ("self.a + 1", expression, "self.a + 2")]
    first, hostile, last = evaluator.ask(asked)
    assert isinstance(hostile, NoAnswer)
    assert (first, last) == (2, 3)


def test_a_module_in_the_working_directory_is_not_run(
    evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the folder of a package was imported from')\n")
    monkeypatch.chdir(tmp_path)
    assert evaluator.ask([("self.a + 1", {"self": {"a": 1}})]) == [2]
