"""The catalogue's use cases as users get them: composed, given values, built by a real kustomize.

``@each_use_case`` and ``@each_package`` run a test for all there are, so that one added later is judged as well.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

import real
import tiny
from catalogue.pods import as_pods
from packyard.core.kubernetes import requirements
from packyard.core.kubernetes.pod_security import LEVELS
from packyard.core.work.memo import Memo
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.patch import MisfitError
from packyard.using.options.folder import PROGRAMS
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Assignment, Plan
from packyard.using.setting import PackageSetters
from packyard.writing.source import package as packages
from packyard.writing.source import parts, workspace
from packyard.writing.source.compose import Composed, ComposedPackage, compose
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.workspace import FOLDERS, OPTIONS
from real import Kustomize
from sample import some

Object = dict[str, Any]

_DIRECTORY = "directory"

CATALOGUE = workspace.read(real.REPOSITORY)
PACKAGES = [packages.read(CATALOGUE, name) for name in CATALOGUE.package_names()]

each_package = pytest.mark.parametrize("package", [pytest.param(item, id=item.name) for item in PACKAGES])


@dataclass(frozen=True)
class Directory:
    """One use case's directory, in memory, and beside it the ``options`` of its package, of which some ``fit``."""

    files: Mapping[str, bytes]
    options_files: Mapping[str, bytes] = field(default_factory=dict)
    options: Sequence[str] = ()
    programs: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def setters(self) -> Mapping[str, Setter]:
        return _setters(package_files(self.files))

    @cached_property
    def option_setters(self) -> Mapping[str, Setter]:
        return _setters(package_files(self.options_files))

    @property
    def examples(self) -> dict[str, str]:
        """An example for everything that has to be set."""
        return _examples(self.setters)

    def set(self, values: Mapping[str, str]) -> Self:
        """Return the directory as ``packyard set`` leaves it."""
        return replace(self, files={**self.files, **self.plan(values).files}) if values else self

    def set_options(self, values: Mapping[str, str]) -> Self:
        """Return the directory beside options as ``packyard set`` leaves them."""
        planned = _plan(package_files(self.options_files), values)
        return replace(self, options_files={**self.options_files, **planned.files})

    def plan(self, values: Mapping[str, str]) -> Plan:
        return _plan(package_files(self.files), values)

    def build(self, kustomize: Kustomize, namespace: str, options: Sequence[str] = ()) -> list[Object]:
        """Return what kustomize builds after ``edit set namespace`` and ``edit add component``, in its order."""
        return build_all(kustomize, namespace, [(self, options)])[0]

    def write(self, folder: Path, fields: Object) -> None:
        """Write the directory into ``folder/use-case``, with more ``fields`` in its kustomization; options beside it.

        What an option requires has its example.
        """
        found = {**self.files, **{f"../{OPTIONS}/{path}": data for path, data in self._options_to_try.items()}}
        found.update({f"../{PROGRAMS}/{path}": data for path, data in self.programs.items()})
        tiny.write_all(folder / "use-case", found)
        components = [*(f"../{PROGRAMS}/{each}" for each in self._program_names()), *fields.get("components", ())]
        fields = {**self._kustomization, **fields, "components": components}
        (folder / "use-case/kustomization.yaml").write_text(yaml.dump(fields, Dumper=yaml.CSafeDumper))

    def parse(self) -> list[Object]:
        """Return the objects as they stand in the files that its kustomization lists, in no namespace.

        An alias is a copy, as for everybody who reads what kustomize builds.
        """
        return [*self._objects(self._listed()), *self._generated()]

    def beside(self) -> list[Object]:
        """Return the objects of the files that its kustomization does not list, for users to add."""
        listed = {*self._listed(), *self._patches(), "kustomization.yaml"}
        return self._objects(path for path in self.files if path.endswith(".yaml") and path not in listed)

    def _generated(self) -> Iterator[Object]:
        """Yield the ConfigMaps of the programs, with what the use case adds, under the names before the hash."""
        added = {item["metadata"]["name"]: item for item in self._objects(self._patches())}
        for name in self._program_names():
            for made in _load(self.programs[f"{name}/kustomization.yaml"])["configMapGenerator"]:
                item: Object = added.get(made["name"], {"metadata": {"name": made["name"]}, "data": {}})
                labels = {**made["options"]["labels"], **item["metadata"].get("labels", {})}
                data = {file: self.programs[f"{name}/{file}"].decode() for file in made["files"]}
                metadata = {**item["metadata"], "labels": labels}
                yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**data, **item["data"]}}

    def _program_names(self) -> list[str]:
        listed = self._kustomization.get("components", ())
        return [Path(each).name for each in listed if Path(each).parent.name == PROGRAMS]

    def _patches(self) -> list[str]:
        return [each["path"] for each in self._kustomization.get("patches", ())]

    def _listed(self) -> list[str]:
        return list(self._kustomization["resources"])

    def _objects(self, paths: Iterable[str]) -> list[Object]:
        found = [item for path in paths for item in yaml.load_all(self.files[path], Loader=yaml.CSafeLoader)]
        return [json.loads(json.dumps(item)) for item in found]

    @cached_property
    def _options_to_try(self) -> Mapping[str, bytes]:
        wanted = _examples(self.option_setters)
        return {**self.options_files, **_plan(package_files(self.options_files), wanted).files}

    @cached_property
    def _kustomization(self) -> Object:
        return _load(self.files["kustomization.yaml"])


def _load(text: bytes) -> Object:
    found: Object = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def package_files(files: Mapping[str, bytes], where: str = "") -> PackageFiles:
    """Return a directory, or the options of a package, as the setters' room knows it."""
    resources = {path: data for path, data in files.items() if path.endswith(".yaml")}
    return PackageFiles(files.get(KRMFILE, b""), resources, where)


def _setters(files: PackageFiles) -> Mapping[str, Setter]:
    return read_krmfile(files).definitions.setters if files.krmfile else {}


def _examples(setters: Mapping[str, Setter]) -> dict[str, str]:
    wanted = [setter for setter in setters.values() if setter.must_be_set]
    lacking = [setter.name for setter in wanted if not setter.example]
    assert not lacking, f"required, but without an example: {', '.join(lacking)}"
    return {setter.name: setter.example or "" for setter in wanted}


def _plan(files: PackageFiles, values: Mapping[str, str]) -> Plan:
    return PackageSetters(files).plan(Assignment({name: [text] for name, text in values.items()}))


def build_all(
    kustomize: Kustomize, namespace: str, wanted: Sequence[tuple[Directory, Sequence[str]]]
) -> list[list[Object]]:
    """Build several directories, each with some of its options, in one run of kustomize.

    A label tells their objects apart, for those of the whole cluster have no namespace.
    """
    found: list[list[Object]] = [[] for _ in wanted]
    if not wanted:
        return found
    with tempfile.TemporaryDirectory() as folder:
        apart = [f"namespace-{number}-of-{len(wanted)}" for number in range(len(wanted))]
        for name, (directory, options) in zip(apart, wanted, strict=True):
            components = [f"../{OPTIONS}/{option}" for option in options]
            fields: Object = {"components": components, "labels": [{"pairs": {_DIRECTORY: name}}]}
            directory.write(Path(folder, name), {"namespace": name, **fields})
        listed = {"resources": [f"{name}/use-case" for name in apart]}
        (Path(folder) / "kustomization.yaml").write_text(yaml.dump(listed, Dumper=yaml.CSafeDumper))
        built = kustomize.done("build", folder)
    for item in yaml.load_all(built, Loader=yaml.CSafeLoader):
        name = item["metadata"]["labels"].pop(_DIRECTORY)
        found[apart.index(name)] += moved([item], name, namespace)
    return found


def shipped(package: Package, use_case: UseCase) -> Directory:
    """Return the directory of a use case in which nobody has set anything."""
    files = composed(package, use_case).files
    whole = composed_package(package)
    return Directory(files, whole.options.files, option_names(package, use_case), whole.programs)


def composed(package: Package, use_case: UseCase) -> Composed:
    """Return a use case as it is composed."""
    return next(item for item in composed_package(package).use_cases if item.use_case.path == use_case.path)


def composed_package(package: Package) -> ComposedPackage:
    """Return a package as it is composed, once for all tests."""
    return _compose(package.name)


_MEMO = Memo()


@cache
def _compose(name: str) -> ComposedPackage:
    here = workspace.read(real.REPOSITORY, _MEMO)
    return compose(here, packages.read(here, name))


def option_names(package: Package, use_case: UseCase) -> list[str]:
    """Return the options of its package that fit a use case."""
    return [each.name for each in composed_package(package).options.all if use_case.path in each.use_cases]


def are_rivals(package: Package, use_case: UseCase, pair: Iterable[str]) -> bool:
    """Say whether options of a use case exclude each other, as their operations say, or find no pod to change."""
    objects = [SourceObject(root, "") for root in _roots(package.name, use_case.path)]
    try:
        for name in pair:
            part = parts.of(CATALOGUE, f"{FOLDERS[OPTIONS]}/{name}")
            before = [item.root for item in objects]
            accumulate(part, objects)
            if part.pods and all(old is item.root for old, item in zip(before, objects, strict=False)):
                return True
    except MisfitError:
        return True
    return False


@cache
def _roots(package: str, path: str) -> list[Any]:
    from packyard.core.yaml import aliases
    from packyard.core.yaml.node import Source

    item = next(each for each in PACKAGES if each.name == package)
    use_case = next(each for each in item.use_cases if each.path == path)
    files = composed(item, use_case)
    return [aliases.read(Source(name, files.files[name].decode()))[0].root for _, name in files.objects]


def _distinct() -> Iterator[tuple[Package, UseCase]]:
    """Yield all use cases, but one that several packages ship alike only once: a claim, say."""
    seen: list[object] = []
    for package in PACKAGES:
        for use_case in package.use_cases:
            alike = (use_case.path, use_case.parts, bool(use_case.patches))
            if use_case.patches or alike not in seen:
                yield package, use_case
            seen.append(alike)


USE_CASES = list(_distinct())
each_use_case = pytest.mark.parametrize(
    ("package", "use_case"), [pytest.param(item, each, id=f"{item.name}/{each.path}") for item, each in USE_CASES]
)


def of_bases(*bases: str) -> Any:
    """Run a test for one use case of each package and of these bases; the others differ in their storage."""
    cases = {
        (item.name, use_case.base): pytest.param(item, use_case, id=f"{item.name}/{use_case.path}")
        for item in PACKAGES
        for use_case in sorted(
            item.use_cases, key=lambda each: each.path.endswith("/user-allocated-pvc")
        )  # the last counts
        if use_case.base in bases
    }
    return pytest.mark.parametrize(("package", "use_case"), cases.values())


@cache
def with_option(of: str) -> list[tuple[Package, UseCase, str]]:
    """Return use cases with an option, a sample: each option with each kind of workload that it fits, and each base."""
    every = [(item, each, option) for item, each in USE_CASES for option in option_names(item, each)]
    return some(every, lambda case: ((*kinds(*case[:2]), case[2]), case[1].base), of=of)


def kinds(package: Package, use_case: UseCase) -> list[str]:
    """Return the kinds of a use case that make pods."""
    return sorted({item["kind"] for item in shipped(package, use_case).parse() if any(as_pods([item]))})


def sampled_options(package: Package, use_case: UseCase, *, of: str) -> list[str]:
    """Return the options of a sample for one use case."""
    return [name for item, each, name in with_option(of) if (item.name, each.path) == (package.name, use_case.path)]


def moved(objects: list[Object], namespace: str, other: str) -> list[Object]:
    """Return objects built for one namespace as they are for another."""
    found = json.loads(json.dumps(objects).replace(json.dumps(namespace), json.dumps(other)))
    assert isinstance(found, list)
    return found


def level(objects: Iterable[Object]) -> str:
    """Return the Pod Security level that a namespace has to have by packyard's account, as bundles record it."""
    return max(needed(list(objects), "PodSecurity"), key=LEVELS.index, default=LEVELS[0])


def needed(objects: list[Object], kind: str) -> list[str]:
    """Return the names of what objects of a use case need of a kind."""
    return [text.split(" ")[1] for text in requirements.find(objects) if text.split(" ")[0] == kind]
