"""Finding pods in Kubernetes objects of any kind, and reading fields that may hold anything.

A list of ``containers`` makes a pod, wherever it sits: in a Pod, a Job's template, or an MPIJob's
``spec.mpiReplicaSpecs.Worker.template.spec``. So does the ``container``, ``script`` or ``containerSet`` of an Argo
template, which is given as the pod's ``spec`` that Argo makes of it, with what the workflow says for all its pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]
"""A mapping as YAML gives it."""


def pods(value: object) -> Iterator[Object]:
    """Yield every pod's ``spec`` in ``value``, an object or a list of them."""
    if isinstance(value, (dict, Mapping)):  # in this order: most of what is met is a dict, or no collection at all
        if isinstance(value.get("containers"), list):
            yield value
        templates = [item for item in mappings(value.get("templates")) if _argo_containers(item)]
        yield from (_argo_pod(template, value) for template in templates)
        value = [field for key, field in value.items() if key != "templates" or not templates]
    if isinstance(value, (list, tuple)):
        for item in value:
            if not isinstance(item, (str, int, float)):
                yield from pods(item)


def _argo_containers(template: Object) -> list[Object]:
    """Return the main containers of an Argo template; nothing where it lists steps, or is no Argo template at all."""
    found = [template[key] for key in ("container", "script") if isinstance(template.get(key), Mapping)]
    return found + mappings(mapping(template.get("containerSet")).get("containers"))


def _argo_pod(template: Object, workflow: Object) -> Object:
    """Return the pod of an Argo template; what it leaves open is what the ``spec`` of its workflow has."""
    shared = (
        "serviceAccountName",
        "securityContext",
        "imagePullSecrets",
        "automountServiceAccountToken",
        "hostNetwork",
    )
    return {
        **{key: workflow[key] for key in shared if key in workflow},
        **template,
        "containers": _argo_containers(template) + mappings(template.get("sidecars")),
        "volumes": mappings(workflow.get("volumes")) + mappings(template.get("volumes")),
    }


def containers(pod: Object) -> Iterator[Object]:
    """Yield the containers of all kinds of a pod's ``spec``."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from mappings(pod.get(field))


def mapping(value: object) -> Object:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, (dict, Mapping)) else {}


def mappings(value: object) -> list[Object]:
    """Return the mappings in a list, and nothing where it is no list."""
    return [item for item in value if isinstance(item, (dict, Mapping))] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""
