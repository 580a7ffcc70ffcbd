"""The catalogue's packages, judged by real kustomize: their composition, and every setter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import reading
from catalogue.usecases import (
    CATALOGUE,
    composed,
    composed_package,
    each_use_case,
    package_files,
)
from packyard.using.render.programs import Program
from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.judging import by_kustomize
from packyard.writing.source.package import Package, UseCase
from real import Served


def write(files: Mapping[str, bytes], folder: Path) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@each_use_case
def test_builds_what_its_kustomization_builds(package: Package, use_case: UseCase, kustomize5: Path) -> None:
    assert by_kustomize.of_sources(CATALOGUE, package, use_case, Program(kustomize5, "build")) == []


@each_use_case
def test_builds_alike_with_old_and_new_kustomize(
    package: Package, use_case: UseCase, served3: Served, served4: Served, served5: Served, tmp_path: Path
) -> None:
    shared = {path: data for path, data in composed_package(package).files.items() if path.startswith("programs/")}
    own = {f"{use_case.path}/{name}": data for name, data in composed(package, use_case).files.items()}
    folder = write({**shared, **own}, tmp_path) / use_case.path
    built = reading.built(served5, folder)
    assert reading.built(served3, folder) == built
    assert reading.built(served4, folder) == built


def setters(files: PackageFiles) -> Mapping[str, Setter]:
    return read_krmfile(files).definitions.setters


def set_values(files: PackageFiles, values: Mapping[str, str]) -> PackageFiles:
    planned = plan(files, Assignment({name: [text] for name, text in values.items()}))
    return files.with_files(planned.files)


def another(alike: list[Setter]) -> str:
    """Return a value that setters of one name may have and have not."""
    first = max(alike, key=lambda setter: len(setter.value))
    texts = [
        *(setter.example or "" for setter in alike),
        re.sub("^0(?=[0-9])", "", f"{first.value}2"),
        "x",
        "5Gi",
        "3",
        "/x",
        "https://x",
        "GN",
        "False",
    ]
    texts += [re.sub("[0-9]", lambda digit: str((int(digit.group()) + 1) % 10), first.value), *map(str, _enum(first))]
    fitting = [
        text for text in texts if text and all(text != each.value and not is_refused(each, [text]) for each in alike)
    ]
    assert fitting, f"no other value for {first.name}: give one here"
    return fitting[0]


def _enum(setter: Setter) -> Iterable[object]:
    found = setter.schema.get("enum")
    return found if isinstance(found, list) else ()


@pytest.mark.nightly
@each_use_case
def test_every_setter_changes_a_field_and_set_back_restores_every_byte(package: Package, use_case: UseCase) -> None:
    shipped = package_files(composed(package, use_case).files)
    for name, setter in setters(shipped).items() if shipped.krmfile else ():
        changed = set_values(shipped, {name: another([setter])})
        assert changed.resources != shipped.resources, f"{name} changes no field"
        if not setter.must_be_set:  # else it is empty, and only `--unset` goes back there
            back = set_values(changed, {name: setter.value})
            assert back.resources == shipped.resources, f"{name} is not taken back"
