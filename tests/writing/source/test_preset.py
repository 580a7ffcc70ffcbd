"""Presets: shipped as they are, refused where no use case can use them, and set with -R where a use case has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import real
from packyard.core.errors import InputError
from packyard.writing.build.packing import compose_draft
from packyard.writing.source import package as packages
from packyard.writing.source import workspace
from packyard.writing.source.compose import compose
from tiny import done

NAME = "resnet50v1-5-fp32-training-k8s"
NODE = '# Large nodes.\nCPUS: "32" # of 36\nWORKERS: 4\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the catalogue in which the package has one preset, ``large``."""
    for name in ("bases", "overlays", "packages", "docs"):
        shutil.copytree(real.REPOSITORY / name, tmp_path / name)
    for name in ("packyard.yaml", "LICENSE", "Krmfile"):
        shutil.copy(real.REPOSITORY / name, tmp_path)
    write(tmp_path, NODE)
    return tmp_path


def write(tree: Path, text: str) -> None:
    file = tree / "packages" / NAME / "files/presets/large.yaml"
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text)


def refused(tree: Path) -> list[str]:
    found = workspace.read(tree)
    with pytest.raises(InputError) as raised:
        compose(found, packages.read(found, NAME))
    return [str(problem).removeprefix(f"{tree}/packages/") for problem in raised.value.problems]


def test_a_preset_is_shipped_byte_for_byte_and_named(tree: Path) -> None:
    unpacked = compose_draft(workspace.read(tree), "1.0", NAME).bundle().unpack(tree)
    assert (unpacked / "presets/large.yaml").read_text() == NODE
    assert "packyard set .. -f presets/large.yaml -R" in (unpacked / "README.md").read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('WORKERS: "4"\n', ["1: begins with no comment that says what it is for"]),
        ("# Large.\n- WORKERS\n", [" a values file must be a mapping of names to values"]),
        ("# Large.\nWORKERS: {a: 1}\nCPUS: [[]]\n", ["2: WORKERS needs a text", "3: CPUS needs a text"]),
        ("# Large.\nWORKRS: 4\n", ["2: no use case has a setter WORKRS (did you mean 'WORKERS'?)"]),
        ("# Large.\nWORKERS: 0\n", ["2: WORKERS takes a whole number of at least 1"]),
        ('# Large.\nCPUS: "0"\nWORKERS: many\n', ["3: WORKERS takes a whole number", "2: CPUS takes "]),
    ],
)
def test_a_preset_that_cannot_be_used_is_refused_by_its_line(tree: Path, text: str, expected: list[str]) -> None:
    write(tree, text)
    problems = refused(tree)
    for start in expected:
        assert any(problem.startswith(f"{NAME}/files/presets/large.yaml:{start}") for problem in problems), problems
    assert all(problem.startswith(f"{NAME}/files/presets/large.yaml:") for problem in problems)


@pytest.mark.nightly
def test_a_preset_is_set_recursively_where_a_use_case_has_its_names(tree: Path) -> None:
    mlops = compose_draft(workspace.read(tree), "1.0", NAME).bundle().unpack(tree) / "quickstart/mlops"
    done("set", ".", "--values", mlops / "../../presets/large.yaml", "-R", cwd=mlops)
    for topology in ("multi-node", "single-node"):
        krmfile = (mlops / topology / "user-mounted-nfs/Krmfile").read_text()
        assert '{name: CPUS, value: "32", isSet: true}' in krmfile
        assert ('{name: WORKERS, value: "4", isSet: true}' in krmfile) == (topology == "multi-node")
