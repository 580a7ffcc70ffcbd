"""The catalogue's use cases as users get them: composed, given values, built by a real kustomize.

``@each_use_case`` and ``@each_package`` run a test for all there are, so that one added later is judged as well.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, product
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
from packyard.source.compose import Composed, compose
from packyard.source.option import DEFINITIONS
from packyard.source.package import Package, UseCase
from packyard.source.security import LEVELS

Object = dict[str, Any]

_DIRECTORY = "directory"

CATALOGUE = workspace.read(real.REPOSITORY)
PACKAGES = [packages.read(CATALOGUE, name) for name in CATALOGUE.package_names()]

each_package = pytest.mark.parametrize("package", [pytest.param(item, id=item.name) for item in PACKAGES])


#: Every use case as it is composed, by ``PACKAGE/USE-CASE``: `test_golden` holds them to the sources.
CASES = real.REPOSITORY / "tests/source/cases"

_SET_VALUE = re.compile(rb"[^ \n]* # \{")


def option_names(folder: Path) -> list[str]:
    """Return the options of a use case, by its folder below `CASES`."""
    return sorted(each.name for each in folder.glob("options/*"))


@cache
def option_pairs() -> Mapping[Path, Sequence[tuple[str, str]]]:
    """Return the pairs of options by the folder of their use case below `CASES`.

    A pair that does the same in several use cases, whatever its setters and names are, stands in the first of them.
    """
    found: dict[tuple[tuple[str, bytes], ...], tuple[Path, tuple[str, str]]] = {}
    for folder in sorted(each.parent for each in CASES.rglob("options")):
        does = {name: deeds(folder / "options" / name) for name in option_names(folder)}
        for pair in combinations(does, 2):
            found.setdefault(does[pair[0]] + does[pair[1]], (folder, pair))
    return {folder: [pair for other, pair in found.values() if other == folder] for folder, _ in found.values()}


def pairs_together(folder: Path) -> list[tuple[str, str]]:
    """Return the `option_pairs` of a use case, by its folder, that do not exclude each other."""
    return [pair for pair in option_pairs().get(folder, ()) if not are_rivals(folder, pair)]


def deeds(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Return what an option does: its operations and definitions, and the names of its other files."""
    return tuple(
        (file.name, b"" if file.suffix == ".yaml" else _SET_VALUE.sub(b"# {", file.read_bytes()))
        for file in sorted(folder.iterdir())
    )


@dataclass(frozen=True)
class Directory:
    """One use case's directory with its options, in memory."""

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
        return sorted({path.split("/")[1] for path in self.files if path.startswith("options/")})

    def build(self, kustomize: Path, namespace: str, options: Sequence[str] = ()) -> list[Object]:
        """Return what kustomize builds after ``edit set namespace`` and ``edit add component``, in its order."""
        return build_all(kustomize, namespace, [(self, options)])[0]

    def write(self, folder: Path, fields: Object) -> None:
        """Write the directory, with more ``fields`` in its kustomization.

        What an option requires has its example, as a user writes it who adds the option as a component.
        """
        for path, data in {**self.files, **self._filled_options}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        with (folder / "kustomization.yaml").open("a") as kustomization:
            kustomization.write(yaml.safe_dump(fields))

    def parse(self) -> list[Object]:
        """Return the objects as they stand in the files, in no namespace."""
        own = [path for path in self.files if re.fullmatch(r"[^/]+\.yaml", path) and path != "kustomization.yaml"]
        return [item for path in own for item in yaml.load_all(self.files[path], Loader=yaml.CSafeLoader)]

    @cached_property
    def _filled_options(self) -> Mapping[str, bytes]:
        found: dict[str, bytes] = {}
        for path, data in self.files.items():
            folder, _, name = path.rpartition("/")
            option = Directory({"Krmfile": data}) if name == DEFINITIONS else None
            if option and option.examples:
                patches = {each: self.files[each] for each in self.files if each.startswith(folder) and each != path}
                planned = _plan(PackageFiles(data, patches), option.examples)
                found |= {each: planned.files[each] for each in patches if each in planned.files}
        return found

    @property
    def _package_files(self) -> PackageFiles:
        resources = {path: data for path, data in self.files.items() if path.endswith(".yaml")}
        return PackageFiles(self.files["Krmfile"], resources)


def _plan(files: PackageFiles, values: Mapping[str, str]) -> Plan:
    planned = plan_values(files, Request({name: [text] for name, text in values.items()}))
    assert planned is not None
    return planned


def build_all(kustomize: Path, namespace: str, wanted: Sequence[tuple[Directory, Sequence[str]]]) -> list[list[Object]]:
    """Build several directories, each with some of its options, in one run of kustomize.

    A label tells their objects apart, for those of the whole cluster have no namespace. One that brings a namespace is
    put in none: kustomize would give that the name of the other.
    """
    found: list[list[Object]] = [[] for _ in wanted]
    if not wanted:
        return found
    with tempfile.TemporaryDirectory() as folder:
        apart = [f"namespace-{number}-of-{len(wanted)}" for number in range(len(wanted))]
        for name, (directory, options) in zip(apart, wanted, strict=True):
            components = [f"options/{option}" for option in options]
            fields: Object = {"components": components, "labels": [{"pairs": {_DIRECTORY: name}}]}
            brings = any(item["kind"] == "Namespace" for item in directory.parse())
            directory.write(Path(folder, name), fields if brings else {"namespace": name, **fields})
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump({"resources": apart}))
        done = subprocess.run([kustomize, "build", folder], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    for item in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader):
        name = item["metadata"]["labels"].pop(_DIRECTORY)
        found[apart.index(name)] += moved([item], name, namespace)
    return found


def shipped(package: Package, use_case: UseCase) -> Directory:
    """Return the directory of a use case in which nobody has set anything."""
    return Directory(composed(package, use_case).shipped)


def composed(package: Package, use_case: UseCase) -> Composed:
    """Return a use case as it is composed, once for all tests."""
    key = (package.name, use_case.path)
    if key not in _COMPOSED:
        _COMPOSED[key] = compose(CATALOGUE, package, use_case)
    return _COMPOSED[key]


_COMPOSED: dict[tuple[str, str], Composed] = {}


def _distinct() -> Iterator[tuple[Package, UseCase]]:
    """Yield all use cases, but one that several packages ship to the byte only once: that of a shared list, say."""
    seen: dict[object, list[tuple[Package, UseCase]]] = {}
    for package in PACKAGES:
        for use_case in package.use_cases:
            alike = seen.setdefault((use_case.path, use_case.base, use_case.overlays), [])
            if use_case.axes or not any(shipped(*each).files == shipped(package, use_case).files for each in alike):
                yield package, use_case
            alike.append((package, use_case))


USE_CASES = list(_distinct())
each_use_case = pytest.mark.parametrize(
    ("package", "use_case"), [pytest.param(item, each, id=f"{item.name}/{each.path}") for item, each in USE_CASES]
)


def moved(objects: list[Object], namespace: str, other: str) -> list[Object]:
    """Return objects built for one namespace as they are for another."""
    found = json.loads(json.dumps(objects).replace(json.dumps(namespace), json.dumps(other)))
    assert isinstance(found, list)
    return found


def are_rivals(folder: Path, pair: Iterable[str]) -> bool:
    """Say whether two options of a use case, by its folder, exclude each other.

    The patches say so: one replaces or removes what is at or below a path that the other changes.
    """
    one, other = (_changed(folder / "options" / name) for name in pair)
    return any(
        here == there or here.startswith(there + "/") or there.startswith(here + "/")
        for here, there in product(one, other)
        if not (here == there and here.endswith("/-"))
    )


@cache
def _changed(option: Path) -> list[str]:
    """Return the paths that an option changes, each behind the name of its file, which stands for an object."""
    files = {file.name: yaml.load(file.read_bytes(), yaml.CSafeLoader) for file in option.glob("*.json6902")}
    return [f"{name}{item['path']}" for name, operations in files.items() for item in operations]


def level(objects: Iterable[Object]) -> str:
    """Return the Pod Security level that a namespace has to have by packyard's account, as bundles record it."""
    needed = (item for item in requirements.find(list(objects)) if item.kind == "PodSecurity")
    return max((item.name for item in needed), key=LEVELS.index, default=LEVELS[0])
