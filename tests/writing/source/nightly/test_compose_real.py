"""The catalogue's packages, judged by real kustomize: their composition, and every setter."""

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import reading
import tiny
from catalogue.usecases import (
    CATALOGUE,
    USE_CASES,
    Directory,
    composed,
    composed_package,
    each_use_case,
    package_files,
)
from packyard.core.yaml.node import Source
from packyard.core.yaml.values import to_value
from packyard.using.kustomize import builtin, objects
from packyard.using.kustomize.accumulate import accumulate
from packyard.using.kustomize.part import Part
from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from packyard.writing.source import parts, program
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.pod_operations import PodPatch
from packyard.writing.source.workspace import PODS
from real import Kustomize
from writing.source.libraries import COMPONENT


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of the catalogue without patches of pods, which kustomize knows nothing of."""
    folder = tmp_path_factory.mktemp("sources")
    for name in ("bases", "overlays", "packages"):
        shutil.copytree(CATALOGUE.root_dir / name, folder / name, ignore=shutil.ignore_patterns(PODS))
    for below in (below for below in folder.glob("overlays/*/*") if not (below / "kustomization.yaml").exists()):
        (below / "kustomization.yaml").write_text(f"{COMPONENT}generatorOptions: {{disableNameSuffixHash: false}}\n")
    return folder


@pytest.mark.parametrize("use_case", [pytest.param(each, id=f"{item.name}/{each.path}") for item, each in USE_CASES])
def test_builds_what_its_kustomization_builds(
    use_case: UseCase, sources: Path, kustomize5: Kustomize, tmp_path: Path
) -> None:
    base, *overlays = (parts.of(CATALOGUE, path) for path in use_case.parts)
    made = Part("", resources=(base,), components=tuple(overlays), patches=use_case.patches)
    built = accumulate(without_pods(made))
    written = [item.copy(objects.read(Source("", item.write().decode()))[0]) for item in built]
    ours = builtin.hashed(written, [spec for each in program.find(built) for spec in each.part.references])
    above = os.path.relpath(sources, tmp_path.resolve())
    patches = [
        {
            **({"path": f"{above}/{each.file}"} if each.file else {"patch": json.dumps(to_value(each.document.root))}),
            **({"target": dict(each.target)} if each.target else {}),
        }
        for each in use_case.patches
    ]
    listed = {"resources": [f"{above}/{base.folder}"], "components": [f"{above}/{each.folder}" for each in overlays]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({**listed, "patches": patches}))
    theirs = reading.built(kustomize5, tmp_path, "--load-restrictor", "LoadRestrictionsNone")
    assert reading.in_order(ours) == theirs


def without_pods(part: Part) -> Part:
    """Return a part, and what it is made of, without patches of pods."""
    return replace(
        part,
        pods=tuple(each for each in part.pods if not isinstance(each, PodPatch)),
        resources=tuple(map(without_pods, part.resources)),
        components=tuple(map(without_pods, part.components)),
    )


@each_use_case
def test_builds_alike_with_old_and_new_kustomize(
    package: Package,
    use_case: UseCase,
    kustomize3: Kustomize,
    kustomize4: Kustomize,
    kustomize5: Kustomize,
    tmp_path: Path,
) -> None:
    shared = {path: data for path, data in composed_package(package).files.items() if path.startswith("programs/")}
    own = {f"{use_case.path}/{name}": data for name, data in composed(package, use_case).files.items()}
    tiny.write_all(tmp_path, {**shared, **own})
    folder = tmp_path / use_case.path
    built = reading.built(kustomize5, folder)
    assert reading.built(kustomize3, folder) == built
    assert reading.built(kustomize4, folder) == built


def another(setter: Setter) -> str:
    """Return a value that a setter may have and has not."""
    enum = setter.schema.get("enum")
    texts = [
        setter.example or "",
        re.sub("^0(?=[0-9])", "", f"{setter.value}2"),
        *("x", "5Gi", "3", "/x", "https://x", "GN", "False"),
        re.sub("[0-9]", lambda digit: str((int(digit.group()) + 1) % 10), setter.value),
        *map(str, enum if isinstance(enum, list) else ()),
    ]
    fitting = [text for text in texts if text not in ("", setter.value) and not is_refused(setter, [text])]
    assert fitting, f"no other value for {setter.name}: give one here"
    return fitting[0]


@pytest.mark.nightly
@each_use_case
def test_every_setter_changes_a_field_and_set_back_restores_every_byte(package: Package, use_case: UseCase) -> None:
    before = Directory(composed(package, use_case).files)
    resources = package_files(before.files).resources
    for name, setter in before.setters.items():
        changed = before.set({name: another(setter)})
        assert package_files(changed.files).resources != resources, f"{name} changes no field"
        if not setter.must_be_set:  # else it is empty, and only `--unset` goes back there
            back = changed.set({name: setter.value})
            assert package_files(back.files).resources == resources, f"{name} is not taken back"
