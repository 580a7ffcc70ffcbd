"""Finding pods in objects of any kind: where their containers and their volumes are.

spec.template.spec                             of a Job, a Deployment
spec.mpiReplicaSpecs.Worker.template.spec      of an MPIJob
spec.templates[]                               of an Argo Workflow, with ``container``; volumes there or in spec
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packyard.yaml.document import mappings, walk
from packyard.yaml.node import MappingNode, Node, Scalar, SequenceNode

_LISTS = ("initContainers", "containers", "ephemeralContainers", "sidecars")
_SINGLE = ("container", "script")


@dataclass(frozen=True, slots=True)
class Pod:
    """A mapping that holds containers, and the names of every volume that they may mount."""

    spec: MappingNode
    containers: tuple[MappingNode, ...]
    volumes: frozenset[str]


def find(root: Node) -> list[Pod]:
    """Return every pod in a node, in the order of the text."""
    return list(_find(root, frozenset()))


def _find(node: Node, volumes: frozenset[str]) -> Iterator[Pod]:
    if isinstance(node, MappingNode):
        volumes |= {name.value for name in volume_names(node)} | _claims(node)
        containers = tuple(_containers(node))
        if containers:
            yield Pod(node, containers, volumes)
        for entry in node.entries:
            yield from _find(entry.value, volumes)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _find(item.value, volumes)


def templates(root: Node) -> list[MappingNode]:
    """Return what carries the metadata of pods: templates, or a Pod itself; in a Workflow there is nothing."""
    found = []
    for node in walk(root):
        spec = node.mapping("spec") if isinstance(node, MappingNode) else None
        if isinstance(node, MappingNode) and spec and isinstance(spec.get("containers"), SequenceNode):
            found.append(node)
    return found


def names(node: Node | None) -> list[Scalar]:
    """Return the ``name`` of each mapping in a list."""
    found = (mapping.get("name") for mapping in mappings(node))
    return [name for name in found if isinstance(name, Scalar)]


def volume_names(node: MappingNode) -> list[Scalar]:
    """Return the names of the volumes that a mapping declares."""
    return names(node.get("volumes"))


def mounts(node: Node) -> list[Scalar]:
    """Return the names that all mounts and devices in a node refer to."""
    return [
        name
        for inner in walk(node)
        if isinstance(inner, MappingNode)
        for field in ("volumeMounts", "volumeDevices")
        for name in names(inner.get(field))
    ]


def _containers(node: MappingNode) -> Iterator[MappingNode]:
    for field in _LISTS:
        yield from mappings(node.get(field))
    for field in _SINGLE:
        value = node.get(field)
        if isinstance(value, MappingNode) and value.get("image") is not None:
            yield value


def _claims(node: MappingNode) -> frozenset[str]:
    """Return the names of the claims that an object makes for its pods: a StatefulSet, a Workflow, a JobSet."""
    lists = [
        node.get("volumeClaimTemplates"),
        *(each.get("templates") for each in mappings(node.get("volumeClaimPolicies"))),
    ]
    metadata = (claim.mapping("metadata") for listed in lists for claim in mappings(listed))
    return frozenset(found.text("name") for found in metadata if found)
