"""The catalogue's packages, judged by real kustomize: their composition, their layout, every setter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

import reading
from catalogue.usecases import (
    CATALOGUE,
    PACKAGES,
    composed,
    composed_package,
    each_package,
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
from real import Cfg, Served
from sample import some


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


@each_package
def test_kustomize_3_sets_each_value_to_the_bytes_that_we_set(package: Package, cfg3: Cfg, tmp_path: Path) -> None:
    check_setters(package, "3", cfg3, tmp_path)


def check_setters(package: Package, judge: str, cfg: Cfg, folder: Path) -> None:
    """Give setters another value in all directories of a package, by a tool and by us: each in one package at least."""
    shipped = directories(package)
    for path, files in shipped.items():
        write(files.files, folder / path)
    for name in [name for owner, name in some(named_setters(), tuple, of=judge) if owner == package.name]:
        having = {path: files for path, files in shipped.items() if name in setters(files)}
        text = another([setters(files)[name] for files in having.values()])
        cfg.done("set", ".", name, text, "-R", cwd=folder)
        for path, files in shipped.items():
            changed = set_values(files, {name: text}) if path in having else files
            for file, data in changed.files.items():
                theirs = (folder / path / file).read_bytes()
                if theirs != data:
                    assert without(name, theirs) == without(name, data), f"{name} in {path}/{file}"
                    assert yaml.safe_load(theirs) == yaml.safe_load(data), f"{name} in {path}/{file}"
                if theirs != files.files[file]:
                    (folder / path / file).write_bytes(files.files[file])


@cache
def named_setters() -> list[tuple[str, str]]:
    """Return the name of each package with that of each of its setters."""
    found = (
        (package.name, name) for package in PACKAGES for each in directories(package).values() for name in setters(each)
    )
    return sorted({*found})


def without(name: str, data: bytes) -> list[bytes]:
    """Return the lines of a file but for a setter's own definition: 3.8.7 folds the line of a long value."""
    lines = data.splitlines()
    start = f"    io.k8s.cli.setters.{name}:".encode()
    if start not in lines:
        return lines
    begin = lines.index(start)
    deeper = (number for number in range(begin + 1, len(lines)) if not lines[number].startswith(b"      "))
    return lines[:begin] + lines[next(deeper, len(lines)) :]


def directories(package: Package) -> dict[str, PackageFiles]:
    """Return the directories of a package with setters, by their paths."""
    made = composed_package(package)
    found = {item.use_case.path: package_files(item.files) for item in made.use_cases}
    found["options"] = package_files(made.options.files)
    return {path: files for path, files in found.items() if files.krmfile}


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
