"""Rules of parts in use cases: carried where all their setters are, refused where they are wrong or broken."""

import shutil
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from writing.source import libraries


def krmfile(rules: str = "", **setters: str) -> str:
    lines = ["kind: Krmfile", "openAPI:", "  definitions:"]
    for name, keywords in setters.items():
        lines.append(f"    io.k8s.cli.setters.{name}:")
        lines += [f"      {keyword}" for keyword in keywords.split("; ")[1:]]
        value = keywords.split("; ")[0]
        lines.append(
            f"      x-k8s-cli: {{setter: {{name: {name}, value: '{value}'{', required: true' * (not value)}}}}}"
        )
    return "\n".join(lines) + f"\n{rules}"


NUMBER = "; type: integer; minimum: 1"
WORKERS = f"1{NUMBER}; example: '4'"
RETRIES = f"2{NUMBER}; maximum: 9; example: '3'"
SHARDS = f"{NUMBER}; nullable: true; example: '4'"


def rule(text: str) -> str:
    return f"rules:\n- rule: {text}\n  message: So it is.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = Path(shutil.copytree(tiny.TREES / "rules/workspace", tmp_path / "workspace"))
    define(root)
    return root


def define(tree: Path, base: str = "", overlay: str = "", package: str = "", **changed: str) -> None:
    setters = {"WORKERS": WORKERS, "RETRIES": RETRIES, "SHARDS": SHARDS, **changed}
    shards = setters.pop("SHARDS")
    (tree / "bases/job/Krmfile").write_text(krmfile(base, **setters))
    if (tree / "overlays/programs").is_dir():
        (tree / "overlays/programs/shards/Krmfile").write_text(krmfile(overlay, SHARDS=shards))
    (tree / "packages/bert/Krmfile").write_text(krmfile(package).replace("definitions:", "definitions: {}"))


def composed(tree: Path) -> dict[str, bytes]:
    return {item.use_case.path: item.files["Krmfile"] for item in libraries.composed(tree, "bert").use_cases}


def refused(tree: Path) -> list[str]:
    with pytest.raises(InputError) as raised:
        composed(tree)
    return [str(problem).removeprefix(f"{tree}/") for problem in raised.value.problems]


def rules_of(data: bytes) -> list[str]:
    return [item["rule"] for item in yaml.safe_load(data).get("rules", [])]


def test_a_use_case_has_the_rules_of_its_parts_of_which_it_has_every_setter(tree: Path) -> None:
    both = "WORKERS % SHARDS == 0 || SHARDS > WORKERS"
    define(tree, rule("WORKERS < 100"), rule(both), rule("SHARDS < 1000"))
    found = composed(tree)
    assert rules_of(found["one"]) == ["WORKERS < 100"]
    assert rules_of(found["many"]) == ["WORKERS < 100", both, "SHARDS < 1000"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WORKERS <", "18: rule: the end is not expected here"),
        ("WORKER < 9", "9: the rule WORKER < 9 names WORKER, which no Krmfile defines (did you mean 'WORKERS'?)"),
        ("WORKERS < 'a'", "17: rule: < does not take a whole number and a text"),
    ],
)
def test_a_wrong_rule_is_refused_by_its_place_in_the_part(tree: Path, text: str, expected: str) -> None:
    define(tree, rule(text))
    lines = (tree / "bases/job/Krmfile").read_text().splitlines()
    number = next(index for index, line in enumerate(lines, start=1) if line.startswith("- rule:"))
    (problem,) = refused(tree)
    assert problem.startswith(f"bases/job/Krmfile:{number}:{expected}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WORKERS == 1", "the defaults break the rule: So it is (the rule is WORKERS == 1; WORKERS is 2)"),
        ("WORKERS + RETRIES != 7", "the examples break the rule: So it is (the rule is WORKERS + RETRIES != 7; "),
    ],
)
def test_a_rule_that_a_value_of_the_package_breaks_is_told_at_that_value(tree: Path, text: str, expected: str) -> None:
    define(tree, rule(text))
    (problem,) = refused(tree)
    assert problem.startswith(f"packages/bert/package.yaml:5: {expected}")
