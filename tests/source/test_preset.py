"""Presets: shipped as they are, refused where no use case can use them, and set with -R where a use case has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import real
from packyard.bundle.assemble import assemble
from packyard.errors import InputError
from packyard.source import package as packages
from packyard.source import preset, workspace
from packyard.source.compose import compose_all
from running import done, packyard

NAME = "resnet50v1-5-fp32-training-k8s"
NODE = '# Large nodes.\nCPU_REQUEST: "32" # of 36\nCPU_LIMIT: "36"\nWORKERS: "4"\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the catalogue in which the package has one preset, ``large``, of its own."""
    for name in ("bases", "overlays", "packages"):
        shutil.copytree(real.REPOSITORY / name, tmp_path / name)
    for name in ("packyard.yaml", "LICENSE"):
        shutil.copy(real.REPOSITORY / name, tmp_path)
    shutil.rmtree(tmp_path / "packages" / NAME / "presets")
    write(tmp_path, NODE)
    return tmp_path


def write(tree: Path, text: str, *, names: str = "large", folder: str = NAME) -> None:
    file = tree / "packages" / folder / "presets" / "large.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    described = tree / "packages" / NAME / "package.yaml"
    lines = [line for line in described.read_text().splitlines() if not line.startswith("presets:")]
    described.write_text("\n".join([*lines, f"presets: [{names}]", ""]))


def refused(tree: Path) -> list[str]:
    found = workspace.read(tree)
    with pytest.raises(InputError) as raised:
        compose_all(found, packages.read(found, NAME))
    return [str(problem).removeprefix(f"{tree}/packages/") for problem in raised.value.problems]


def test_a_preset_is_shipped_byte_for_byte_and_listed(tree: Path) -> None:
    unpacked = assemble(workspace.read(tree), NAME, "1.0").unpack(tree)
    assert (unpacked / "presets/large.yaml").read_text() == NODE
    readme = (unpacked / "README.md").read_text()
    assert "- `presets/large.yaml`: Large nodes. Sets `CPU_REQUEST` to `32`," in readme
    assert "packyard set . --values ../../presets/large.yaml -R\n" in readme


def test_a_package_goes_before_what_packages_share(tree: Path) -> None:
    write(tree, "# Shared.\nWORKERS: '8'\n", folder="_shared")
    found = workspace.read(tree)
    (own,) = preset.read_all(found, packages.read(found, NAME))
    assert own.values.description == "Large nodes."
    (tree / "packages" / NAME / "presets" / "large.yaml").unlink()
    (shared,) = preset.read_all(found, packages.read(found, NAME))
    assert shared.values.description == "Shared."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('WORKERS: "4"\n', ["1: begins with no comment that says what it is for"]),
        ("# Large.\n- WORKERS\n", [" a values file is a mapping of names to values"]),
        ("# Large.\nWORKERS: {a: 1}\nCPU_LIMIT: [[]]\n", ["2: WORKERS needs a text", "3: CPU_LIMIT needs a text"]),
        ("# Large.\nWORKRS: 4\n", ["2: no use case has a setter WORKRS (did you mean 'WORKERS'?)"]),
        ("# Large.\nWORKERS: 0\n", ["2: WORKERS takes a whole number from 1 to 1000, not '0'"]),
        (
            '# Large.\nCPU_REQUEST: "9"\nWORKERS: many\n',
            ["3: WORKERS takes a whole number from 1 to 1000, not 'many'", "2: breaks a rule of single-node/"],
        ),
        (
            "# Large.\nCPU_LIMIT: 8\nCPU_REQUEST: 9\n",
            ["3: breaks a rule of multi-node/user-allocated-pvc: A container cannot be sure of more CPUs"],
        ),
    ],
)
def test_a_preset_that_cannot_be_used_is_refused_by_its_line(tree: Path, text: str, expected: list[str]) -> None:
    write(tree, text)
    problems = refused(tree)
    for start in expected:
        assert any(problem.startswith(f"{NAME}/presets/large.yaml:{start}") for problem in problems), problems
    assert all(problem.startswith(f"{NAME}/presets/large.yaml:") for problem in problems)


def test_names_in_package_yaml_and_files_have_to_agree(tree: Path) -> None:
    write(tree, NODE, names="larg")
    assert refused(tree) == [
        f"{NAME}/package.yaml: presets: no preset 'larg' (did you mean 'large'?)",
        f"{NAME}/presets/large.yaml: is not among the presets of package.yaml (name it there, or take it away)",
    ]
    write(tree, NODE, names="large, large, ../x")
    assert len(refused(tree)) == 3


def test_a_preset_is_set_recursively_where_a_use_case_has_its_names(tmp_path: Path) -> None:
    done("get", NAME, "--into", tmp_path)
    mlops = tmp_path / NAME / "quickstart/mlops"
    file = mlops / "../../presets/two-sockets-of-28-cores.yaml"
    done("set", ".", "--values", file, "-R", cwd=mlops)
    for topology, has_slots in (("multi-node", True), ("single-node", False)):
        krmfile = (mlops / topology / "user-mounted-nfs/Krmfile").read_text()
        assert 'name: CPU_REQUEST\n          value: "52"\n' in krmfile
        assert ('name: SLOTS_PER_WORKER\n          value: "2"\n' in krmfile) == has_slots
    one = packyard("set", "single-node/user-mounted-nfs", "--values", file, cwd=mlops)
    assert one.returncode == 1
    assert 'setter "SLOTS_PER_WORKER" is not found' in one.stderr
