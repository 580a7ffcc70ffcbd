"""What `lint --fix` writes: what is certain, by edits that are proved, and nothing else."""

from pathlib import Path

import pytest

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
    shown = {file.name: file.read_text() for file in wrong.iterdir()}
    assert rule.name in tiny.run("lint", wrong)[1]
    assert f"fixed [{rule.name}]" in tiny.run("lint", "--fix", wrong)[2]
    assert {file.name: file.read_text() for file in wrong.iterdir()} == {
        file.name: file.read_text() for file in right.iterdir()
    }
    assert tiny.run("undo", wrong)[0] == 0
    assert {file.name: file.read_text() for file in wrong.iterdir()} == shown


@pytest.mark.parametrize("text", ["a: [\n", "\xff", "a: 1\na: 2\n"])
def test_a_file_that_cannot_be_read_stays_and_what_it_may_use(text: str, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "a", {"Krmfile": "io.k8s.cli.setters.TAG: {x-k8s-cli: {setter: {name: TAG, value: v1}}}\n"}
    )
    (folder / "a.yaml").write_bytes(text.encode("latin-1"))
    before = (folder / "Krmfile").read_text()
    assert "fixed" not in tiny.run("lint", "--fix", folder)[2]
    assert (folder / "Krmfile").read_text() == before
    assert (folder / "a.yaml").read_bytes() == text.encode("latin-1")
