"""packyard import of the reference zoo: what is composed equals what was imported, before a value is set and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import imported
import reading
import real
import tiny
from imported import Imported
from served import Cfg, Served

CASES = real.corpus_files("zoo")
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


def use_case(stem: str) -> tuple[str, str]:
    """Return the name of a package, and the path of a use case in it."""
    model, mode, precision, *path = stem.split("__")
    return f"{model}-{precision}-{mode}-k8s".replace("_", "-"), "/".join(path)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Import all packages of the corpus into one workspace."""
    real.corpus()
    packages: dict[str, dict[str, dict[str, str]]] = {}
    for case in CASES:
        name, path = use_case(case.stem)
        packages.setdefault(name, {})[path] = json.loads(case.read_text())["before"]
    return imported.import_all(tmp_path_factory.mktemp("zoo"), packages)


@pytest.mark.parametrize("stem", real.of_corpus(case.stem for case in CASES))
def test_a_use_case_composes_to_the_objects_that_kustomize_built_before(
    zoo: Imported, served5: Served, stem: str
) -> None:
    assert reading.built(served5, zoo.composed[use_case(stem)]) == reading.built(served5, zoo.before[use_case(stem)])


def test_kustomize_builds_the_same_objects_from_the_sources(zoo: Imported, served5: Served, tmp_path: Path) -> None:
    imported.check_sources(zoo, served5, tmp_path / "out")


@pytest.mark.parametrize("stem", real.of_corpus(case.stem for case in CASES))
def test_setters_stay_with_name_value_and_description(zoo: Imported, stem: str) -> None:
    before, after = (imported.setters(each[use_case(stem)]) for each in (zoo.before, zoo.composed))
    assert after == {name: facts for name, facts in before.items() if name not in DEAD.get(stem, ())}


def cases(stem: str) -> Iterator[tuple[list[str], int, dict[str, str]]]:
    """Yield what the real kustomize 3.8.7 was told, its exit code, and the files as they were then."""
    said = json.loads((real.corpus() / "zoo" / f"{stem}.json").read_text())
    for case in said["cases"]:
        torn = stem.startswith(TORN_IN) and case["args"][2] in TORN
        if case["args"][2] not in DEAD.get(stem, ()) and not torn:
            yield case["args"], case["rc"], {**said["before"], **case["after"]}


@pytest.mark.parametrize("stem", real.of_corpus(case.stem for case in CASES))
def test_setting_a_value_has_the_effect_that_it_had(zoo: Imported, stem: str) -> None:
    for (_, _, name, value, *_), code, _ in cases(stem):
        if code == 0:
            before, after = (
                imported.set_value(each[use_case(stem)], name, value) for each in (zoo.before, zoo.composed)
            )
            assert before == after, f"{name} {value}"


@pytest.mark.nightly
@pytest.mark.parametrize("stem", real.of_corpus(case.stem for case in CASES))
def test_kustomize_387_sets_what_is_composed_as_it_set_what_was_imported(
    zoo: Imported, cfg3: Cfg, stem: str, tmp_path: Path
) -> None:
    for number, (words, code, after) in enumerate(cases(stem)):
        folder = tmp_path / str(number)
        for name, text in imported.texts(zoo.composed[use_case(stem)]).items():
            tiny.write(folder / name, text)
        assert cfg3(*words, cwd=folder).returncode == code
        assert imported.objects(imported.texts(folder)) == imported.objects(after), words


def test_sources_are_shorter_than_what_was_imported_by_more_than_half(zoo: Imported) -> None:
    several = {name: lines for name, lines in zoo.lines.items() if "training" in name}
    assert all(2 * after < before for before, after in several.values()), zoo.lines


def test_what_was_lost_is_listed_by_its_place(zoo: Imported) -> None:
    said = zoo.list_lost("resnet50v1-5-fp32-training-k8s")
    below = "quickstart/mlops"
    assert f"- [ ] {below}/multi-node/user-allocated-pvc/config-map.yaml:13: data.PYTHONPATH: PYTHONPATH\n" in said
    assert f"- [ ] {below}/multi-node/user-allocated-pvc/Krmfile: STORAGE\n" in said
    assert "- [ ] NFS_SERVER: '0.0.0.0'\n" in said
    assert "- [ ] MODEL_SCRIPT: single-node/user-mounted-nfs: setter 'launch_benchmark.py', description: " in said
    said = zoo.list_lost("wide-deep-large-ds-fp32-training-k8s")
    assert "/quickstart/fp32_training.sh', not '/workspace/wide-deep-large-ds-fp32-training/benchmarks/" in said
