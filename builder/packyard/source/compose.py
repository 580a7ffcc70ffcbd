"""A use case from its parts: the same objects that kustomize builds from them, with the setter comments that it drops.

resources: [bases/mpi-job]  +  components: [overlays/user-mounted-nfs]  +  patches: […]
    ->  config-map.yaml  mpi-job.yaml  service-account.yaml  kustomization.yaml  Krmfile
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from packyard.errors import Problem, refuse, suggest
from packyard.setters.plan import PackageFiles, Plan, plan, read_krmfile
from packyard.setters.value import faults
from packyard.source import kustomization
from packyard.source.accumulate import Object, accumulate
from packyard.source.definitions import compose_krmfile
from packyard.source.package import Package, UseCase
from packyard.source.workspace import Workspace
from packyard.text import layout

_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Composed:
    """The files of one use case by their name, and the objects in them as (kind, file)."""

    use_case: UseCase
    files: Mapping[str, bytes]
    objects: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()  # values given for setters that this use case does not have

    def package_files(self, where: str = "") -> PackageFiles:
        """Return the use case as the setters' room knows it."""
        return PackageFiles(self.files["Krmfile"], _resources(self.files), where)


def compose_all(workspace: Workspace, package: Package) -> list[Composed]:
    """Compose every use case of a package; a value that none of the use cases it is given to can use is refused."""
    composed = [compose(workspace, package, use_case) for use_case in package.use_cases]
    given = {(value.line, name): value for item in composed for name, value in item.use_case.setters.items()}
    used = {
        (value.line, name)
        for item in composed
        for name, value in item.use_case.setters.items()
        if name not in item.unused
    }
    unknown = [key for key in sorted(given) if key not in used]
    if not unknown:
        return composed
    known = {name for item in composed for name in read_krmfile(item.package_files()).definitions.setters}
    refuse(
        Problem(f"setters.{name}: no part defines it", file=value.file, line=line, hint=suggest(name, known))
        for line, name in unknown
        for value in [given[line, name]]
    )
    return composed


def compose(workspace: Workspace, package: Package, use_case: UseCase, *, values: bool = True) -> Composed:
    """Compose a use case, and give it the package's values; ``values=False`` leaves those of its parts."""
    part = kustomization.read(workspace, package, use_case)
    objects = accumulate(part)
    names = _file_names(objects)
    documents = {name: layout.write(item.root) for name, item in sorted(zip(names, objects, strict=True), key=_by_name)}
    given = {name: value.text for name, value in use_case.setters.items()} if values else {}
    files = {
        **documents,
        "Krmfile": compose_krmfile(part, documents, given),
        "kustomization.yaml": _kustomization(list(documents)),
    }
    unused: list[str] = []
    if values:
        files.update(_with_values(files, use_case, unused).files)
    kinds = tuple((item.identity[1], name) for name, item in sorted(zip(names, objects, strict=True), key=_by_name))
    return Composed(use_case, files, kinds, tuple(unused))


def _by_name(pair: tuple[str, Object]) -> str:
    return pair[0]


def _file_names(objects: list[Object]) -> list[str]:
    """Name each object's file for its kind; objects of one kind keep the names of the files they came from."""
    kinds = Counter(item.identity[1] for item in objects)
    names = []
    for item in objects:
        kind = _UPPER.sub("-", item.identity[1]).lower()
        names.append(f"{kind if kinds[item.identity[1]] == 1 else item.stem}.yaml")
    twice = [item for item, name in zip(objects, names, strict=True) if names.count(name) > 1]
    refuse(item.problem(f"two objects would be written to {item.stem}.yaml: one object a file") for item in twice)
    return names


def _resources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.endswith(".yaml")}


def _kustomization(names: list[str]) -> bytes:
    lines = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:"]
    return "\n".join([*lines, *(f"- {name}" for name in sorted(names)), ""]).encode()


def _with_values(files: Mapping[str, bytes], use_case: UseCase, unused: list[str]) -> Plan:
    """Give the use case the package's values, by the engine of `set`, not marked as set by a user."""
    composed = PackageFiles(files["Krmfile"], _resources(files))
    known = read_krmfile(composed).definitions.setters
    unused += [name for name in use_case.setters if name not in known]
    problems: list[Problem] = []
    for name, given in use_case.setters.items():
        if name in known:
            problems += [
                Problem(f"setters.{name}: {fault}", file=given.file, line=given.line)
                for fault in faults(known[name], [given.text])
            ]
    refuse(problems)
    return plan(composed, {name: [given.text] for name, given in use_case.setters.items() if name in known}, mark=False)
