"""The catalogue's use cases as users get them: composed, given values, built by a real kustomize.

``@each_use_case`` and ``@each_package`` run a test for all there are, so that one added later is judged as well.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
from packyard.bundle import requirements
from packyard.setters.change import Request, plan_values
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import Plan
from packyard.source import package as packages
from packyard.source import workspace
from packyard.source.compose import Composed, ComposedPackage, compose
from packyard.source.option import DIRECTORY as OPTIONS
from packyard.source.package import Package, UseCase

Object = dict[str, Any]

#: The levels of Pod Security, the strictest first.
LEVELS = ("restricted", "baseline", "privileged")

_DIRECTORY = "directory"
#: Where a use case lies beside the options: as deep as most.
_CASE = "mode/storage"

CATALOGUE = workspace.read(real.REPOSITORY)
PACKAGES = [packages.read(CATALOGUE, name) for name in CATALOGUE.package_names()]

each_package = pytest.mark.parametrize("package", [pytest.param(item, id=item.name) for item in PACKAGES])


#: Every use case as it is composed, by ``PACKAGE/USE-CASE``: `test_golden` holds them to the sources.
CASES = real.REPOSITORY / "tests/source/cases"


def option_names(package: Package, use_case: UseCase) -> list[str]:
    """Return the options of a package that fit a use case."""
    return [each.name for each in whole(package).options.all if use_case.path in each.use_cases]


def option_pairs(package: Package, use_case: UseCase) -> list[tuple[str, str]]:
    """Return the pairs of options that fit a use case; some exclude each other."""
    return list(combinations(option_names(package, use_case), 2))


def deeds(package: Package, option: str) -> Mapping[str, bytes]:
    """Return the files of an option as a package has it."""
    (found,) = [each.files for each in whole(package).options.all if each.name == option]
    return found


@dataclass(frozen=True)
class Directory:
    """One use case's directory, in memory, with the options of its package that fit it in ``options/``."""

    files: Mapping[str, bytes]

    @cached_property
    def setters(self) -> Mapping[str, Setter]:
        return read_krmfile(self._package_files).definitions.setters

    @property
    def examples(self) -> dict[str, str]:
        """An example for everything that has to be set."""
        wanted = [setter for setter in self.setters.values() if setter.must_be_set]
        lacking = [setter.name for setter in wanted if not setter.example]
        assert not lacking, f"required, but without an example: {', '.join(lacking)}"
        return {setter.name: setter.example or "" for setter in wanted}

    def set(self, values: Mapping[str, str]) -> Directory:
        """Return the directory as ``packyard set`` leaves it."""
        return replace(self, files={**self.files, **self.plan(values).files}) if values else self

    def plan(self, values: Mapping[str, str]) -> Plan:
        return _plan(self._package_files, values)

    @property
    def options(self) -> list[str]:
        """The names of what may be enabled."""
        return sorted({path.split("/")[1] for path in self.files if path.count("/") > 1})

    def build(self, kustomize: Path, namespace: str, options: Sequence[str] = ()) -> list[Object]:
        """Return what kustomize builds after ``edit set namespace`` and ``edit add component``, in its order."""
        return build_all(kustomize, namespace, [(self, options)])[0]

    def write(self, folder: Path, fields: Object) -> None:
        """Write the directory, with more ``fields`` in its kustomization, and the options beside it.

        What an option requires has its example, as a user sets it who adds the option as a component.
        """
        for path, data in {**self.files, **self._filled_options}.items():
            file = folder / (path if path.startswith(f"{OPTIONS}/") else f"{_CASE}/{path}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        with (folder / _CASE / "kustomization.yaml").open("a") as kustomization:
            kustomization.write(yaml.safe_dump(fields))

    def parse(self) -> list[Object]:
        """Return the objects as they stand in the files that the kustomization lists, in no namespace."""
        listed = yaml.load(self.files["kustomization.yaml"], Loader=yaml.CSafeLoader)["resources"]
        return [item for path in listed for item in yaml.load_all(self.files[path], Loader=yaml.CSafeLoader)]

    @cached_property
    def _filled_options(self) -> Mapping[str, bytes]:
        inside = {path.partition("/")[2]: data for path, data in self.files.items() if path.startswith(f"{OPTIONS}/")}
        if "Krmfile" not in inside:
            return {}
        options = Directory(inside)
        resources = {path: data for path, data in inside.items() if path.endswith(".yaml")}
        filled = _plan(PackageFiles(inside["Krmfile"], resources), options.examples).files if options.examples else {}
        return {f"{OPTIONS}/{path}": data for path, data in filled.items()}

    @property
    def _package_files(self) -> PackageFiles:
        resources = {path: data for path, data in self.files.items() if path.endswith(".yaml") and "/" not in path}
        return PackageFiles(self.files.get("Krmfile", b""), resources)


def _plan(files: PackageFiles, values: Mapping[str, str]) -> Plan:
    planned = plan_values(files, Request({name: [text] for name, text in values.items()}))
    assert planned is not None
    return planned


def build_all(kustomize: Path, namespace: str, wanted: Sequence[tuple[Directory, Sequence[str]]]) -> list[list[Object]]:
    """Build several directories, each with some of its options, in one run of kustomize.

    A label tells their objects apart, for those of the whole cluster have no namespace.
    """
    found: list[list[Object]] = [[] for _ in wanted]
    if not wanted:
        return found
    with tempfile.TemporaryDirectory() as folder:
        apart = [f"namespace-{number}-of-{len(wanted)}" for number in range(len(wanted))]
        for name, (directory, options) in zip(apart, wanted, strict=True):
            components = [f"../../{OPTIONS}/{option}" for option in options]
            fields: Object = {"components": components, "labels": [{"pairs": {_DIRECTORY: name}}]}
            directory.write(Path(folder, name), {"namespace": name, **fields})
        cases = [f"{name}/{_CASE}" for name in apart]
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump({"resources": cases}))
        done = subprocess.run([kustomize, "build", folder], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    for item in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader):
        name = item["metadata"]["labels"].pop(_DIRECTORY)
        found[apart.index(name)] += moved([item], name, namespace)
    return found


def shipped(package: Package, use_case: UseCase) -> Directory:
    """Return the directory of a use case in which nobody has set anything."""
    fitting = option_names(package, use_case)
    beside = {path: data for path, data in whole(package).options.files.items() if path.split("/")[0] in fitting}
    if beside and "Krmfile" in whole(package).options.files:
        beside["Krmfile"] = whole(package).options.files["Krmfile"]
    found = composed(package, use_case).files
    return Directory({**found, **{f"{OPTIONS}/{path}": data for path, data in beside.items()}})


def composed(package: Package, use_case: UseCase) -> Composed:
    """Return a use case as it is composed."""
    return next(each for each in whole(package).use_cases if each.use_case.path == use_case.path)


def whole(package: Package) -> ComposedPackage:
    """Return a package as it is composed, once for all tests."""
    if package.name not in _COMPOSED:
        _COMPOSED[package.name] = compose(CATALOGUE, package)
    return _COMPOSED[package.name]


_COMPOSED: dict[str, ComposedPackage] = {}


def _distinct() -> Iterator[tuple[Package, UseCase]]:
    """Yield all use cases, but one that several packages ship to the byte only once: that of a volume, say."""
    seen: list[Mapping[str, bytes]] = []
    for package in PACKAGES:
        for use_case in package.use_cases:
            files = composed(package, use_case).files
            if files not in seen:
                seen.append(files)
                yield package, use_case


USE_CASES = list(_distinct())
each_use_case = pytest.mark.parametrize(
    ("package", "use_case"), [pytest.param(item, each, id=f"{item.name}/{each.path}") for item, each in USE_CASES]
)


def moved(objects: list[Object], namespace: str, other: str) -> list[Object]:
    """Return objects built for one namespace as they are for another."""
    found = json.loads(json.dumps(objects).replace(json.dumps(namespace), json.dumps(other)))
    assert isinstance(found, list)
    return found


def level(objects: Iterable[Object]) -> str:
    """Return the Pod Security level that a namespace has to have by packyard's account, as bundles record it."""
    needed = (item for item in requirements.find(list(objects)) if item.kind == "PodSecurity")
    return max((item.name for item in needed), key=LEVELS.index, default=LEVELS[0])
