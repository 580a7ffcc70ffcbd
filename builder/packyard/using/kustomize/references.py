"""Where objects name ConfigMaps, so that the hash behind a generated name reaches them.

kustomize knows the fields of Kubernetes' own kinds; those of others stand in files that ``configurations`` lists::

    nameReference:
    - kind: ConfigMap
      fieldSpecs:
      - kind: JobSet
        path: spec/replicatedJobs/template/spec/template/spec/volumes/configMap/name
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import APPS, BATCH, CORE
from packyard.core.kubernetes.pods import PODS
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import Node
from packyard.core.yaml.pointer import escaped
from packyard.core.yaml.strict import Value

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


#: Where an object names a ConfigMap: a mapping and its key, and the JSON pointer.
Place = tuple[dict[str, Value], str, str]
#: What kustomize knows without being told.
KNOWN = tuple(
    FieldSpec(group, kind, (*pod.split("/"), *field.split("/")))
    for (group, kind), paths in PODS.items()
    if group in (CORE, APPS, BATCH) and kind != "PodTemplate"
    for pod in paths
    for field in _FIELDS
)
#: What kustomize 4 and 5 know beside that, and 3.8.7 does not.
NEWER = (
    *(FieldSpec("", "PodTemplate", ("template", "spec", *field.split("/"))) for field in _FIELDS),
    *(FieldSpec("", kind, ("rules", "resourceNames")) for kind in ("Role", "ClusterRole")),
)


def read(root: Node) -> Iterator[FieldSpec]:
    """Yield the fields that a file of ``configurations`` says to name ConfigMaps."""
    for reference in mappings(root.get("nameReference")):
        if reference.text("kind") == "ConfigMap":
            for spec in mappings(reference.get("fieldSpecs")):
                steps = re.split(r"(?<!\\)/", spec.text("path").removeprefix("/"))
                path = tuple(step.removesuffix("[]").replace("\\/", "/") for step in steps)
                yield FieldSpec(spec.text("group"), spec.text("kind"), path, spec.text("version"))


def rename(values: Iterable[dict[str, Value]], names: Mapping[str, str], specs: Sequence[FieldSpec]) -> None:
    """Give ConfigMaps their new names wherever objects name them."""
    for holder, key, _ in (place for value in values for place in find(value, specs)):
        name = holder[key]
        if isinstance(name, str):
            holder[key] = names.get(name, name)
        elif isinstance(name, list):
            holder[key] = [names.get(item, item) if isinstance(item, str) else item for item in name]


def find(value: dict[str, Value], specs: Sequence[FieldSpec]) -> Iterator[Place]:
    """Yield where an object names ConfigMaps."""
    for spec in specs:
        if spec.fits(value):
            yield from _find(value, spec.path, "")


def _find(value: Value, path: Sequence[str], above: str) -> Iterator[Place]:
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _find(item, path, f"{above}/{at}")
    elif isinstance(value, dict) and path[0] in value:
        pointer = f"{above}/{escaped(path[0])}"
        if len(path) > 1:
            yield from _find(value[path[0]], path[1:], pointer)
        else:
            yield value, path[0], pointer
