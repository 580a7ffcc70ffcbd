"""What a refused value is told: the parameter, what it takes, and the command to type."""

import os
from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from packyard.using.setters.definition import Setter
from packyard.using.setters.refusal import describe, explain
from tiny import packyard
from using.setters import judged


@pytest.mark.parametrize(("schema", "takes"), judged.cases("descriptions"))
def test_says_what_a_definition_admits(schema: dict[str, object], takes: str) -> None:
    assert describe(Setter("A", type=str(schema.get("type", "")), schema=schema)) == takes


def test_what_is_not_utf_8_is_refused_wherever_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "Krmfile").write_text(one_setter("A", "1"))
    (tmp_path / "r.yaml").write_text('a: 1 # {"$openapi":"A"}\n')
    odd = os.fsdecode(b"a\xff")
    for words in (["A=" + odd], ["A=x", "--set-by", odd]):
        process = packyard("set", ".", *words, cwd=tmp_path)
        assert process.returncode == 1, process
        assert "UTF-8" in process.stderr
        assert "isSet" not in (tmp_path / "Krmfile").read_text()
    assert "A takes text in UTF-8" in packyard("cfg", "set", ".", "A", odd, cwd=tmp_path).stderr


@pytest.mark.parametrize(("schema", "given", "says"), judged.cases("refusals"))
def test_a_refused_value_is_told_in_words(schema: dict[str, object], given: str, says: str) -> None:
    problem = explain(Setter("A", type=str(schema.get("type", "")), schema=schema), [given], "")
    assert says in str(problem)
    assert str(schema["pattern"]) not in str(problem)
    assert str(schema["pattern"]) in problem.detail
