"""Fields with the value that Kubernetes uses by default: lines that everybody reads and nobody needs.

    affinity: {}      tolerations: []      replicas: 1      schedulerName: default-scheduler      nvidia.com/gpu: 0

A field that a setter changes is not reported, as people set it, and no empty list with a comment behind it: options add
to such. ``nvidia.com/gpu: 0`` always is, because it keeps queues without GPUs from admitting the pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import OPAQUE, kind_of
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Collection, Entry, MappingNode, Scalar
from packyard.writing.checks.finding import REMOVE, Finding, breach
from packyard.writing.checks.parsed import Parsed

#: Fields that mean nothing when they are empty.
_EMPTY = frozenset(
    (
        *("affinity", "tolerations", "priorityClassName", "initContainers", "imagePullSecrets", "nodeSelector"),
        *("volumes", "volumeMounts", "env", "envFrom", "topologySpreadConstraints", "labels", "ports"),
    )
)
_DEFAULTS = {
    "schedulerName": "default-scheduler",
    "replicas": "1",
    "dnsPolicy": "ClusterFirst",
    "terminationGracePeriodSeconds": "30",
    "hostNetwork": "false",
    "hostPID": "false",
    "hostIPC": "false",
    "suspend": "false",
    "automountServiceAccountToken": "true",
    "readOnlyRootFilesystem": "false",
    "readOnly": "false",
    "optional": "false",
}
#: Fields of a definition.
_SWITCHES = ("required", "isSet", "nullable")
_YEAR = 365 * 24 * 60 * 60


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find fields that can be left out."""
    for entry in parsed.krmfile.entries if parsed.krmfile else ():
        for node in walk(entry.value):
            for field in node.entries if isinstance(node, MappingNode) else ():
                if field.name in _SWITCHES and isinstance(field.value, Scalar) and field.value.value == "false":
                    message = f"{field.name} is false by default"
                    yield breach("default-written-out", field, message, "remove it", REMOVE)
    for root in parsed.objects:
        if kind_of(root) in OPAQUE:
            continue
        for node in walk(root):
            for entry in node.entries if isinstance(node, MappingNode) else ():
                if _is_default(entry, bool(parsed.changed_by(entry.value))):
                    message = f"{entry.name} has the value that Kubernetes uses by default"
                    yield breach("default-written-out", entry, message, "remove it", REMOVE)
        for pod in parsed.pods_of(root):
            for container in pod.containers:
                yield from _resources(container, parsed)


def _is_default(entry: Entry, is_bound: bool) -> bool:
    value = entry.value
    if isinstance(value, Collection):
        return not value.children and entry.name in _EMPTY and value.comment is None
    if not isinstance(value, Scalar):
        return False
    if "/" in entry.name and entry.name.rpartition("/")[2] == "gpu" and value.value == "0":
        return True
    if is_bound:
        return False
    if entry.name == "activeDeadlineSeconds":
        return value.value.isdecimal() and int(value.value) >= _YEAR
    return _DEFAULTS.get(entry.name) == value.value or (entry.name == "priorityClassName" and not value.value)


def _resources(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find requests that equal the limit, now and after each set: that is their default."""
    resources = container.mapping("resources")
    requests = resources.mapping("requests") if resources else None
    limits = resources.mapping("limits") if resources else None
    for entry in requests.entries if requests and limits else ():
        assert limits is not None
        limit = limits.get(entry.name)
        if not isinstance(entry.value, Scalar) or not isinstance(limit, Scalar) or entry.value.value != limit.value:
            continue
        if parsed.changed_by(entry.value) == parsed.changed_by(limit):
            message = f"the request of {entry.name} equals the limit, which is the default"
            yield breach("default-written-out", entry, message, "remove it", REMOVE)
