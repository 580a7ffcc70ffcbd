"""Presets: shipped as they are, refused where no use case can use them."""

from pathlib import Path

import pytest

import tiny
from writing.source.libraries import KRMFILE, define

FILE = "packages/p/files/presets/large.yaml"
RULES = "rules:\n- {rule: WORKERS < 9, message: There are eight nodes.}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / "packages/p/Krmfile", KRMFILE + define("WORKERS", "1", "type: integer", "minimum: 1") + RULES)
    tiny.replace(root / "bases/one/cm.yaml", 'a: "1"', 'a: "1" # {"$openapi":"WORKERS"}')
    return root


def build(root: Path, text: str) -> str:
    tiny.write(root / FILE, text)
    return tiny.run("build", "--workspace", root, "--version", "1", "--to", root.parent / "out")[2]


def test_a_preset_is_shipped_byte_for_byte(root: Path) -> None:
    text = '# Large nodes.\nWORKERS: "4" # of 8\n'
    assert "error" not in build(root, text)
    assert (root.parent / "out/p/presets/large.yaml").read_text() == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('WORKERS: "4"\n', ":1: begins with no comment that says what it is for"),
        ("# Large.\n- WORKERS\n", ": a values file must be a mapping of names to values"),
        ("# Large.\nWORKERS: {a: 1}\n", ":2: WORKERS needs a value, or a list of values"),
        ("# Large.\nWORKRS: 4\n", ":2: no use case has a setter WORKRS (did you mean 'WORKERS'?)"),
        ("# Large.\nWORKERS: 0\n", ":2: WORKERS takes a whole number of at least 1"),
        ("# Large.\nWORKERS: 9\n", ":2: breaks a rule of one: There are eight nodes"),
    ],
)
def test_a_preset_that_cannot_be_used_is_refused_by_its_line(root: Path, text: str, expected: str) -> None:
    assert f"error: {root}/{FILE}{expected}" in build(root, text)
