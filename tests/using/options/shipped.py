"""The packages of the catalogue on disk, as users unpack them, and builds of their use cases with options."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import yaml

from catalogue.usecases import CATALOGUE, PACKAGES, composed_package
from packyard.using.kustomize.builtin import build
from packyard.writing.source.compose import ComposedPackage
from real import Served

Object = dict[str, Any]

#: Options that bring the input data; the second of them stops the build.
DATASETS = ("dataset-bucket", "dataset-claim", "dataset-host-path")
_HEAD: Object = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


@dataclass(frozen=True)
class Place:
    """A use case of a package: its directory, its plain objects, and the options that it fits."""

    package: str
    path: str
    folder: Path
    objects: tuple[str, ...]
    options: tuple[str, ...]
    shape: str

    def __str__(self) -> str:
        return f"{self.package}/{self.path}"

    def option(self, name: str) -> Path:
        return self.folder.parents[self.path.count("/")] / "options" / name


@dataclass(frozen=True)
class Catalogue:
    """All packages below one folder."""

    root: Path
    places: tuple[Place, ...]

    def shapes(self) -> list[Place]:
        """Return one place of each shape: what options do alike is judged once."""
        found: dict[str, Place] = {}
        for place in self.places:
            if place.options:
                found.setdefault(place.shape, place)
        return list(found.values())

    def place(self, name: str) -> Place:
        return next(each for each in self.places if str(each) == name)


def write(root: Path) -> Catalogue:
    """Write all packages, as they are composed, below ``root``."""
    composed = [composed_package(package) for package in PACKAGES]
    for item in composed:
        for path, data in item.files.items():
            file = root / item.package.name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return Catalogue(root, tuple(place for item in composed for place in _places(root, item)))


def _places(root: Path, item: ComposedPackage) -> list[Place]:
    found = []
    for use_case in item.use_cases:
        path = use_case.use_case.path
        objects = use_case.values(CATALOGUE.sources.memo)
        fitting = tuple(sorted(option.name for option in item.options.all if path in option.use_cases))
        built = yaml.load_all(build(root / item.package.name / path), Loader=yaml.CSafeLoader)
        texts = tuple(map(json.dumps, built))
        package = item.package.name
        found.append(Place(package, path, root / package / path, texts, fitting, _shape(objects, fitting)))
    return found


def _shape(objects: Sequence[Object], options: Sequence[str]) -> str:
    """Return all that options look at: kinds, roles, marks, names of containers and steps, and what they add to."""
    return repr((sorted(repr(_outline(item)) for item in objects if item["kind"] in _KINDS), options))


_KINDS = ("Deployment", "Job", "JobSet", "MPIJob", "Pod", "TrainJob", "TrainingRuntime", "Workflow")
_NAMED = ("containers", "initContainers", "templates", "replicatedJobs")
_FIELDS = ("affinity", "tolerations", "envFrom", "initContainers", "completionMode", "nvidia.com/gpu")


def _outline(item: Object) -> tuple[object, ...]:
    metadata = item["metadata"]
    component = metadata.get("labels", {}).get("app.kubernetes.io/component", "")
    return item["kind"], component, metadata.get("annotations"), sorted(_names(item.get("spec")))


def _names(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ([f"{path}.{key}"] if key in _FIELDS else ())
            yield from _names(item, f"{path}.{key}")
    if isinstance(value, list) and path.rpartition(".")[2] in _NAMED:
        for index, item in enumerate(value):
            yield from ([f"{path}[{index}]={item['name']}"] if index == 0 or "container" in item else ())
            yield from _names(item, f"{path}[{index}]")


@dataclass(frozen=True)
class Build:
    """A place with some options of its package."""

    place: Place
    options: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place} with {', '.join(self.options)}"


def build_all(kustomize: Served, scratch: Path, builds: Sequence[Build]) -> list[list[Object]]:
    """Build places with options, many in one run, each in a namespace of its own; all have to succeed."""
    parts = [builds[start : start + _AT_ONCE] for start in range(0, len(builds), _AT_ONCE)]
    return [objects for part in parts for objects in _build(kustomize, scratch, part)]


_AT_ONCE = 50


def _build(kustomize: Served, scratch: Path, builds: Sequence[Build]) -> list[list[Object]]:
    shutil.rmtree(scratch, ignore_errors=True)
    for number, each in enumerate(builds):
        folder = scratch / f"n{number}"
        folder.mkdir(parents=True)
        options = [each.place.option(name) for name in each.options]
        _write(folder, each.place.folder, options, namespace=f"n{number}")
    folders = [f"n{number}" for number in range(len(builds))]
    (scratch / "kustomization.yaml").write_text(yaml.safe_dump({**_HEAD, "resources": folders}))
    built = kustomize.done("build", scratch)
    found: list[list[Object]] = [[] for _ in builds]
    for item in yaml.load_all(built, Loader=yaml.CSafeLoader):
        number = int(item["metadata"].pop("namespace")[1:])
        for subject in item.get("subjects", ()):
            subject["namespace"] = "default"
        found[number].append(item)
    return found


def add(kustomize: Served, scratch: Path, folder: Path, *options: Path) -> CompletedProcess[str]:
    """Build a use case with options, which stand in a kustomization beside it."""
    user = scratch / "user"
    user.mkdir(parents=True, exist_ok=True)
    _write(user, folder, options)
    return kustomize("build", user)


def _write(user: Path, use_case: Path, options: Sequence[Path], **fields: str) -> None:
    """Write a user's kustomization of a use case with options."""
    relative = [os.path.relpath(each, user) for each in options]
    kustomization = {**_HEAD, "resources": [os.path.relpath(use_case, user)], "components": relative, **fields}
    (user / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))


def assert_refused(done: CompletedProcess[str], option: str) -> None:
    """Assert that a build stopped, and named the option and the path, or its last key, that it did not find."""
    assert done.returncode, f"{option} was built"
    assert f"options/{option}'" in done.stderr
    assert re.search("/(spec|data)/|for path: '", done.stderr), done.stderr
