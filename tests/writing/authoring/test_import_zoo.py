"""packyard import of the reference zoo: what is composed equals what was imported, before a value is set and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import reading
import real
import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.source import compose, package, workspace
from served import Cfg, Served

CASES = sorted((real.CORPUS / "zoo").glob("*.json"))
WORKSPACE = "apiVersion: packyard/v1\nkind: Workspace\nname: zoo\nprefix: quickstart/mlops\nlicense: LICENSE\n"
#: Setters that no field uses: setting them did nothing.
DEAD = {
    "resnet50v1_5__training__fp32__multi-node__user-allocated-pvc": {"STORAGE"},
    "resnet50v1_5__training__fp32__single-node__user-allocated-pvc": {"WORKERS"},
    "wide_deep_large_ds__training__fp32__pipeline__user-allocated-pvc": {"PVC_NAME"},
    "wide_deep_large_ds__training__fp32__single-node__user-allocated-pvc": {"NFS_PATH", "NFS_SERVER", "MODEL_SCRIPT"},
    "wide_deep_large_ds__training__fp32__single-node__user-mounted-nfs": {"MODEL_SCRIPT"},
}
#: Setters that changed a text which they did not yield before, so that the field is bound no more.
TORN = {"MODEL_DIR", "MODEL_SCRIPT"}
TORN_IN = "wide_deep_large_ds__training__fp32__single-node"


@dataclass
class Zoo:
    """What was imported: the folders of use cases before and after, by their names in the corpus."""

    root: Path
    before: dict[str, Path] = field(default_factory=dict)
    composed: dict[str, Path] = field(default_factory=dict)
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Import all packages of the corpus, one after another, into one workspace, and compose them."""
    real.corpus()
    root = tmp_path_factory.mktemp("zoo")
    found = Zoo(root)
    tiny.write(root / "ws/packyard.yaml", WORKSPACE)
    tiny.write(root / "ws/LICENSE", "license\n")
    paths: dict[str, dict[str, str]] = {}
    for case in CASES:
        model, mode, precision, *path = case.stem.split("__")
        name = f"{model}-{precision}-{mode}-k8s".replace("_", "-")
        paths.setdefault(name, {})["/".join(path)] = case.stem
        found.before[case.stem] = root / "zoo" / name / "quickstart/mlops" / "/".join(path)
        for file, text in json.loads(case.read_text())["before"].items():
            tiny.write(found.before[case.stem] / file, text)
    for name in paths:
        code, out, err = tiny.run("import", root / "zoo" / name, "--workspace", root / "ws", "--output", "json")
        assert code == 0, err
        (said,) = json.loads(out)
        assert said["useCases"] == sorted(paths[name])
        before = sum(text.read_text().count("\n") for text in (root / "zoo" / name).rglob("*") if text.is_file())
        found.lines[name] = (before, said["lines"])
    here = workspace.read(root / "ws")
    for name, stems in paths.items():
        for each in compose.compose(here, package.read(here, name)).use_cases:
            folder = found.composed[stems[each.use_case.path]] = root / "composed" / stems[each.use_case.path]
            for file, data in each.files.items():
                tiny.write(folder / file, data.decode())
    return found


def objects(files: Mapping[str, str]) -> list[Any]:
    """Return the objects of a use case, sorted."""
    texts = [text for name, text in files.items() if name not in ("Krmfile", "kustomization.yaml")]
    found = [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]
    return sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"]))


def texts(folder: Path) -> dict[str, str]:
    return {name: data.decode() for name, data in reading.files(folder).items()}


@pytest.mark.parametrize("stem", [case.stem for case in CASES])
def test_a_use_case_composes_to_the_objects_that_kustomize_built_before(zoo: Zoo, served5: Served, stem: str) -> None:
    assert reading.built(served5, zoo.composed[stem]) == reading.built(served5, zoo.before[stem])


def test_kustomize_builds_the_same_objects_from_the_sources(zoo: Zoo, served5: Served, tmp_path: Path) -> None:
    code, _, err = tiny.run("build", "--kustomization", "--workspace", zoo.root / "ws", "--out", tmp_path / "out")
    assert code == 0, err
    for stem, composed in zoo.composed.items():
        *_, name, _, _, path = zoo.before[stem].relative_to(zoo.root).as_posix().split("/", 4)
        folder = tmp_path / "out" / name / path
        built = reading.built(served5, folder, "--load-restrictor", "LoadRestrictionsNone")
        assert built == reading.built(served5, composed), stem


@pytest.mark.parametrize("stem", [case.stem for case in CASES])
def test_setters_stay_with_name_value_and_description(zoo: Zoo, stem: str) -> None:
    before, after = (yaml.safe_load((each[stem] / "Krmfile").read_text())["openAPI"]["definitions"]
                     for each in (zoo.before, zoo.composed))  # fmt: skip

    def facts(definitions: Mapping[str, Any]) -> dict[str, object]:
        return {
            name: (each.get("description"), each.get("type"), each["x-k8s-cli"]["setter"]["value"])
            for name, each in definitions.items()
            if ".setters." in name and name.rpartition(".")[2] not in DEAD.get(stem, ())
        }

    assert facts(after) == facts(before)


def cases(stem: str) -> Iterator[tuple[list[str], int, dict[str, str]]]:
    """Yield what the real kustomize 3.8.7 was told, its exit code, and the files as they were then."""
    said = json.loads((real.CORPUS / "zoo" / f"{stem}.json").read_text())
    for case in said["cases"]:
        torn = stem.startswith(TORN_IN) and case["args"][2] in TORN
        if case["args"][2] not in DEAD.get(stem, ()) and not torn:
            yield case["args"], case["rc"], {**said["before"], **case["after"]}


def package_files(folder: Path) -> PackageFiles:
    files = reading.files(folder)
    return PackageFiles(files["Krmfile"], {name: data for name, data in files.items() if name.endswith(".yaml")})


@pytest.mark.parametrize("stem", [case.stem for case in CASES])
def test_setting_a_value_has_the_effect_that_it_had(zoo: Zoo, stem: str) -> None:
    for (_, _, name, value, *_), code, _ in cases(stem):
        if code == 0:
            before, after = (
                objects({**texts(each), **{path: data.decode() for path, data in changed.items()}})
                for each in (zoo.before[stem], zoo.composed[stem])
                if (changed := plan(package_files(each), Assignment({name: [value]})).files)
            )
            assert before == after, f"{name} {value}"


@pytest.mark.slow
@pytest.mark.parametrize("stem", [case.stem for case in CASES])
def test_kustomize_387_sets_what_is_composed_as_it_set_what_was_imported(
    zoo: Zoo, cfg3: Cfg, stem: str, tmp_path: Path
) -> None:
    for number, (words, code, after) in enumerate(cases(stem)):
        folder = tmp_path / str(number)
        for name, text in texts(zoo.composed[stem]).items():
            tiny.write(folder / name, text)
        assert cfg3(*words, cwd=folder).returncode == code
        assert objects(texts(folder)) == objects(after), words


def test_sources_are_shorter_than_what_was_imported_by_more_than_half(zoo: Zoo) -> None:
    several = {name: lines for name, lines in zoo.lines.items() if "training" in name}
    assert all(2 * after < before for before, after in several.values()), zoo.lines


def test_what_was_lost_is_listed_by_its_place(zoo: Zoo) -> None:
    said = (zoo.root / "ws/packages/resnet50v1-5-fp32-training-k8s/import.md").read_text()
    below = "quickstart/mlops"
    assert f"- [ ] {below}/multi-node/user-allocated-pvc/config-map.yaml:13: data.PYTHONPATH: PYTHONPATH\n" in said
    assert f"- [ ] {below}/multi-node/user-allocated-pvc/Krmfile: STORAGE\n" in said
    assert "- [ ] NFS_SERVER: '0.0.0.0'\n" in said
    assert "- [ ] MODEL_SCRIPT: single-node/user-mounted-nfs: setter 'launch_benchmark.py', description: " in said
    said = (zoo.root / "ws/packages/wide-deep-large-ds-fp32-training-k8s/import.md").read_text()
    assert "/quickstart/fp32_training.sh', not '/workspace/wide-deep-large-ds-fp32-training/benchmarks/" in said
