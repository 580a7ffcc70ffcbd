"""Finding pods in Kubernetes objects of any kind, and reading fields that may hold anything.

A list of ``containers`` makes a pod, wherever it sits: in a Pod, a Job's template, or an MPIJob's
``spec.mpiReplicaSpecs.Worker.template.spec``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]
"""A mapping as YAML gives it."""


def pods(value: object) -> Iterator[Object]:
    """Yield every pod's ``spec`` in ``value``, an object or a list of them."""
    if isinstance(value, Mapping):
        if isinstance(value.get("containers"), list):
            yield value
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from pods(item)


def containers(pod: Object) -> Iterator[Object]:
    """Yield the containers of all kinds of a pod's ``spec``."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from mappings(pod.get(field))


def mapping(value: object) -> Object:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Object]:
    """Return the mappings in a list, and nothing where it is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""
