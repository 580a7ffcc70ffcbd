"""package.yaml says once what several use cases have: ``"*"`` of an axis, choices of shared.yaml, a preset's values."""

from __future__ import annotations

from pathlib import Path

import pytest

import real
from packyard.errors import InputError
from packyard.source import package as packages
from packyard.source import workspace
from packyard.source.package import Package

PACKAGE = """\
apiVersion: packyard/v1
kind: Package
model: {name: bert, framework: pytorch, category: language-modeling, precision: fp32, mode: training}
preset: large
presets: [large]
setters: {WORKERS: "3"}
useCases:
  matrix:
    topology:
      "*": {base: job, overlays: [common], options: [debug], setters: {STEPS: "1", RUN_NAME: run}}
      one: {}
      many: {overlays: [shards], options: [more], setters: {STEPS: "2"}}
    storage: [claim, export]
  include: [look/claim]
"""
SHARED = """\
apiVersion: packyard/v1
kind: Shared
choices:
  claim: {overlays: [claim], setters: {VARIANT: pvc}}
  export: {overlays: [export], setters: {VARIANT: nfs}}
  look/claim: {base: look, overlays: [claim]}
docs: [title, license]
"""
FILES = {
    "packyard.yaml": "apiVersion: packyard/v1\nkind: Workspace\nname: tiny\nprefix: p\nlicense: LICENSE\n",
    "LICENSE": "Do what you like.\n",
    "packages/_shared/shared.yaml": SHARED,
    "packages/bert/package.yaml": PACKAGE,
    "packages/bert/presets/large.yaml": "# Large nodes.\nWORKERS: 8\nCPUS: 16\n",
}
FOLDERS = (
    *("bases/job", "bases/look", "overlays/common", "overlays/debug", "overlays/more"),
    *("overlays/shards", "overlays/claim", "overlays/export"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def read(tree: Path, **changed: str) -> Package:
    """Read the package, with texts of package.yaml, shared.yaml or the preset replaced: ``package="OLD -> NEW"``."""
    paths = {"package": "packages/bert/package.yaml", "shared": "packages/_shared/shared.yaml"}
    for name, change in changed.items():
        file = tree / paths.get(name, "packages/bert/presets/large.yaml")
        old, _, new = change.partition(" -> ")
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    return packages.read(workspace.read(tree), "bert")


def refused(tree: Path, **changed: str) -> list[str]:
    with pytest.raises(InputError) as raised:
        read(tree, **changed)
    return [str(problem).removeprefix(f"{tree}/packages/") for problem in raised.value.problems]


def test_every_value_of_an_axis_has_what_stands_under_the_asterisk(tree: Path) -> None:
    found = {item.path: item for item in read(tree).use_cases}
    assert sorted(found) == ["look/claim", "many/claim", "many/export", "one/claim", "one/export"]
    assert {path: item.base for path, item in found.items() if item.axes} == dict.fromkeys(sorted(found)[1:], "job")
    assert found["one/claim"].overlays == ("common", "claim")
    assert found["many/export"].overlays == ("common", "shards", "export")
    assert [found[path].options for path in ("one/claim", "many/claim")] == [("debug",), ("debug", "more")]


def test_the_nearer_value_wins(tree: Path) -> None:
    found = {item.path: {name: value.text for name, value in item.setters.items()} for item in read(tree).use_cases}
    assert found["one/claim"] == {"WORKERS": "3", "CPUS": "16", "STEPS": "1", "RUN_NAME": "run", "VARIANT": "pvc"}
    assert found["many/export"]["STEPS"] == "2"


def test_a_value_knows_the_file_that_gives_it(tree: Path) -> None:
    (setters,) = (item.setters for item in read(tree).use_cases if item.path == "one/claim")
    places = {name: (Path(value.file).relative_to(tree / "packages"), value.line) for name, value in setters.items()}
    assert places["CPUS"] == (Path("bert/presets/large.yaml"), 3)
    assert places["WORKERS"] == (Path("bert/package.yaml"), 6)
    assert places["VARIANT"] == (Path("_shared/shared.yaml"), 4)


def test_an_included_choice_is_a_use_case_at_its_own_name(tree: Path) -> None:
    (found,) = (item for item in read(tree).use_cases if not item.axes)
    assert (found.path, found.base, found.overlays, found.line) == ("look/claim", "look", ("claim",), 14)


def test_a_package_that_lists_no_fragments_has_the_usual_ones(tree: Path) -> None:
    assert read(tree).docs == ("title", "license")
    assert read(tree, package="preset: large -> docs: [title]").docs == ("title",)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"package": "[claim, -> [clam,"}, "bert/package.yaml:13:15: useCases.matrix.storage: 'clam' is no choice of "
         "packages/_shared/shared.yaml (did you mean 'claim'?)"),
        ({"package": "[look/claim] -> [look]"}, "bert/package.yaml:14:13: useCases.include: 'look' is no choice of "),
        ({"package": "[look/claim] -> [claim]"}, "bert/package.yaml:14:13: useCases: use case claim has 0 bases"),
        ({"package": "one: {} -> one: {base: look}"}, "bert/package.yaml:8:3: useCases: use case one/claim has 2 b"),
        ({"shared": "overlays: [claim] -> overlays: [clam]"}, "_shared/shared.yaml:4:22: choices.claim.overlays: "
         "no overlay 'clam' (did you mean 'claim'?)"),
        ({"shared": "overlays: [export] -> patches: [a.yaml]"}, "_shared/shared.yaml:5:12: choices.export.patches: "
         "is no known key"),
        ({"shared": "kind: Shared -> kind: Package"}, "_shared/shared.yaml:2:7: kind: has to be Shared"),
        ({"package": "preset: large -> preset: larg"}, "bert/package.yaml:4:9: preset: no preset 'larg' "
         "(did you mean 'large'?)"),
        ({"package": "presets: [large] -> presets: []"}, "bert/package.yaml:4:9: preset: no preset 'large'"),
        ({"preset": "CPUS: 16 -> CPUS: [1, 2]"}, "bert/presets/large.yaml:3: CPUS has several values"),
        ({"preset": "CPUS: 16 -> CPUS: {a: 1}"}, "bert/presets/large.yaml:3: CPUS needs a text or a list of texts"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_the_file_that_has_it(tree: Path, changed: dict[str, str], expected: str) -> None:
    assert any(problem.startswith(expected) for problem in refused(tree, **changed)), expected


def test_faults_of_package_and_shared_choices_are_named_at_once(tree: Path) -> None:
    found = refused(tree, package="[claim, -> [clam,", shared="base: look -> base: lok")
    assert sorted(problem.partition(":")[0] for problem in found) == ["_shared/shared.yaml", "bert/package.yaml"]


def test_a_model_in_four_variants_is_one_package_yaml_under_40_lines() -> None:
    lines = {file.parent.name: len(file.read_text().splitlines()) for file in real.REPOSITORY.glob("packages/*/*.yaml")}
    assert lines
    assert {name: count for name, count in lines.items() if count >= 40 and name != "_shared"} == {}
