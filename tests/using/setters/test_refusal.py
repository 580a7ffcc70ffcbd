"""What a refused value is told: the parameter, what it takes, and the command to type."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from packyard.using.setters.definition import Setter
from packyard.using.setters.refusal import describe, explain
from tiny import packyard
from using.setters import judged


@pytest.mark.parametrize(
    ("schema", "takes"),
    judged.cases("descriptions"),
)
def test_says_what_a_definition_admits(schema: dict[str, object], takes: str) -> None:
    assert describe(Setter("A", type=str(schema.get("type", "")), schema=schema)) == takes


def test_of_several_values_for_one_none_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "Krmfile").write_text(one_setter("B", "1", "pattern: '^[0-9]$'", "example: 4"))
    (tmp_path / "r.yaml").write_text('b: 1 # {"$openapi":"B"}\n')
    (tmp_path / "kustomization.yaml").write_text("resources: [r.yaml]\n")
    (tmp_path / "values.yaml").write_text("B: [5, 6]\n")
    for words in (("set", ".", "B=5", "B=6"), ("set", ".", "-f", "values.yaml"), ("render", ".", "B=5", "B=6")):
        found = packyard(*words, cwd=tmp_path)
        assert (found.returncode, found.stdout) == (1, "")
        place = "values.yaml:1" if "-f" in words else "Krmfile:3"
        assert f"{place}: B takes one value, not 2: give it once, a text with blanks in quotes (" in found.stderr
    process = packyard("cfg", "set", ".", "B", "5", "6", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (
        0,
        "warning: B takes one value: 6 is passed over, as kustomize does\n",
    )


def test_a_name_of_a_values_file_that_is_unknown_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "Krmfile").write_text(one_setter("B", "1"))
    (tmp_path / "values.yaml").write_text("# ours\nBB: 5\n")
    found = packyard("set", ".", "-f", "values.yaml", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (
        1,
        "error: values.yaml:2: parameter 'BB' is not found (did you mean 'B'?)\n",
    )


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


@pytest.mark.parametrize(
    ("schema", "given", "says"),
    judged.cases("refusals"),
)
def test_a_refused_value_is_told_in_words(schema: dict[str, object], given: str, says: str) -> None:
    problem = explain(Setter("A", type=str(schema.get("type", "")), schema=schema), [given], "")
    assert says in str(problem)
    assert str(schema["pattern"]) not in str(problem)
    assert str(schema["pattern"]) in problem.detail
