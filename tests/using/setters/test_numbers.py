"""Numbers: bounds and steps, and digits without end."""

from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from tiny import packyard, write
from using.setters import judged


def admits(value: str, **keywords: object) -> bool:
    return not is_refused(Setter("V", schema=keywords), [value], as_kustomize=True)


@pytest.mark.parametrize(
    ("value", "keywords", "expected"),
    [
        *judged.cases("numbers"),
        ("0." + "3" * 5000, {"maximum": 0.5, "minimum": 0.1}, True),
        ("9" * 5000, {"maximum": 3}, True),
    ],
)
def test_a_number_is_judged_as_it_is_written(value: str, keywords: dict[str, object], expected: bool) -> None:
    assert admits(value, **keywords) is expected


def test_numbers_of_thousands_of_digits_are_refused_by_name_wherever_they_stand(tmp_path: Path) -> None:
    digits = "9" * 5000

    def package(name: str, *lines: str, rule: str = "", more: str = "") -> Path:
        folder = tmp_path / name
        rules = f"rules:\n- rule: {rule}\n  message: x\n" if rule else ""
        write(folder / "Krmfile", one_setter("A", '"1"', *lines) + rules)
        (folder / "cm.yaml").write_text(
            f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  a: "1" # {{"$openapi":"A"}}\n{more}'
        )
        (folder / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
        return folder

    typed = package("typed", "type: integer")
    bounded = package("bounded", "type: integer", f"maximum: {digits}")
    plain = package("plain", "title: x", more=f"  b: {digits}\n")
    ruled = package("ruled", "title: x", rule="int(A) > 0")
    amounts = package("amounts", "title: x", rule="quantity(A) < quantity('1')")
    nan = package("nan", "type: number", rule="int(A) > 0")
    for words, code, says in (
        (("set", typed, f"A={digits}"), 1, "A takes a whole number of at most 9223372036854775807, not '9999"),
        (("cfg", "set", typed, "A", digits), 1, "A takes a whole number of at most 9223372036854775807, not '9999"),
        (("setters", bounded), 0, ""),
        (("lint", bounded), 1, "maximum must be a number, found '9999"),
        (("set", bounded, "A=2"), 1, "maximum must be a number, found '9999"),
        (("render", "--built-in", plain), 0, ""),
        (("set", ruled, f"A={digits}"), 1, "cannot convert string to int"),
        (("set", amounts, f"A={digits}"), 1, "is not a quantity"),
        (("set", nan, "A=.nan"), 1, "A takes a number in decimal digits, not '.nan'"),
    ):
        process = packyard(*words)
        assert process.returncode == code, (words, process.stderr)
        assert says in process.stdout + process.stderr, (words, process.stderr)
        assert "9" * 100 not in process.stderr, "long values are cut short"
