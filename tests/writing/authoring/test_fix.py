"""What `lint --fix` writes: what is certain, by edits that are proved, and nothing else."""

from pathlib import Path

import pytest

import reading
import tiny
from packyard.writing.checks.explanation import Rule, table

HEAD = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
SURE = [rule for rule in table().values() if rule.fix]


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        lines = "".join(f"    {line}" for line in text.splitlines(keepends=True))
        tiny.write(folder / path, HEAD + lines if text.startswith("io.k8s.cli") else text)
    if "Krmfile" not in files:
        tiny.write(folder / "Krmfile", "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n")
    return folder


@pytest.mark.parametrize("rule", SURE, ids=lambda rule: rule.name)
def test_the_example_of_a_rule_is_fixed_as_it_shows(rule: Rule, tmp_path: Path) -> None:
    wrong, right = write(tmp_path / "wrong", rule.files("-")), write(tmp_path / "right", rule.files("+"))
    shown = reading.files(wrong)
    assert rule.name in tiny.run("lint", wrong)[1]
    assert f"fixed [{rule.name}]" in tiny.run("lint", "--fix", wrong)[2]
    assert reading.files(wrong) == reading.files(right)
    assert tiny.run("undo", wrong)[0] == 0
    assert reading.files(wrong) == shown


@pytest.mark.parametrize("text", ["a: [\n", "\xff", "a: 1\na: 2\n"])
def test_a_file_that_cannot_be_read_stays_and_what_it_may_use(text: str, tmp_path: Path) -> None:
    krmfile = "io.k8s.cli.setters.TAG: {x-k8s-cli: {setter: {name: TAG, value: v1}}}\n"
    folder = write(tmp_path / "a", {"Krmfile": krmfile})
    (folder / "a.yaml").write_bytes(text.encode("latin-1"))
    before = reading.files(folder)
    assert "fixed" not in tiny.run("lint", "--fix", folder)[2]
    assert reading.files(folder) == before
