"""Where objects name ConfigMaps, so that the hash behind a generated name reaches them.

kustomize knows the fields of Kubernetes' own kinds; those of others stand in files that ``configurations`` lists::

    nameReference:
    - kind: ConfigMap
      fieldSpecs:
      - kind: JobSet
        path: spec/replicatedJobs/template/spec/template/spec/volumes/configMap/name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import APPS, BATCH, CORE
from packyard.core.kubernetes.pods import PODS
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import Node
from packyard.core.yaml.strict import Value
from packyard.using.kustomize import generator, selector
from packyard.using.kustomize.objects import Object

_FIELDS = (
    "volumes/configMap/name",
    "volumes/projected/sources/configMap/name",
    *(
        f"{containers}/{field}/name"
        for containers in ("containers", "initContainers")
        for field in ("env/valueFrom/configMapKeyRef", "envFrom/configMapRef")
    ),
)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field of a kind that holds the name of a ConfigMap; an empty group, version or kind is any."""

    group: str
    kind: str
    path: tuple[str, ...]
    version: str = ""

    def fits(self, value: Mapping[str, Value]) -> bool:
        """Say whether an object is of the kind."""
        group, _, version = str(value.get("apiVersion")).rpartition("/")
        wanted = ((self.group, group), (self.version, version), (self.kind, value.get("kind")))
        return all(word in ("", text) for word, text in wanted)


#: What kustomize knows without being told.
KNOWN = tuple(
    FieldSpec(group, kind, (*pod.split("/"), *field.split("/")))
    for (group, kind), paths in PODS.items()
    if group in (CORE, APPS, BATCH) and kind != "PodTemplate"
    for pod in paths
    for field in _FIELDS
)


def read(root: Node) -> Iterator[FieldSpec]:
    """Yield the fields that a file of ``configurations`` says to name ConfigMaps."""
    for reference in mappings(root.get("nameReference")):
        if reference.text("kind") == "ConfigMap":
            for spec in mappings(reference.get("fieldSpecs")):
                steps = re.split(r"(?<!\\)/", spec.text("path").removeprefix("/"))
                path = tuple(step.removesuffix("[]").replace("\\/", "/") for step in steps)
                yield FieldSpec(spec.text("group"), spec.text("kind"), path, spec.text("version"))


def add_hashes(items: Sequence[Object], hashed: Iterable[Object], configured: Sequence[FieldSpec]) -> None:
    """Put hashes behind the names of what is made so; references follow where kustomize knows them, or was told.

    Those of objects in another namespace mean something else there.
    """
    names: dict[str, dict[str, str]] = {}
    for item in hashed:
        before = item.name
        after = item.metadata["name"] = f"{before}-{generator.suffix(item.root)}"
        names.setdefault(selector.effective(item.identity)[2], {})[before] = after
    for place, in_place in names.items():
        reaching = [item.root for item in items if selector.effective(item.identity)[2] in (selector.CLUSTER, place)]
        rename(reaching, in_place, [*KNOWN, *configured])


def rename(values: Iterable[Mapping[str, Value]], names: Mapping[str, str], specs: Sequence[FieldSpec]) -> None:
    """Give ConfigMaps their new names wherever objects name them."""
    for value in values:
        for spec in specs:
            if spec.fits(value):
                _rename(value, spec.path, names)


def _rename(value: Value | Mapping[str, Value], path: Sequence[str], names: Mapping[str, str]) -> None:
    if isinstance(value, list):
        for item in value:
            _rename(item, path, names)
    elif isinstance(value, dict) and path[0] in value:
        member = value[path[0]]
        if len(path) > 1:
            _rename(member, path[1:], names)
        elif isinstance(member, str):
            value[path[0]] = names.get(member, member)
