"""Fields with the value that Kubernetes uses by default: lines that everybody reads and nobody needs.

    affinity: {}      tolerations: []      replicas: 1      schedulerName: default-scheduler      nvidia.com/gpu: 0

A field that a setter changes is not reported, as people set it, and no empty list with a comment behind it: options add
to such. ``nvidia.com/gpu: 0`` always is, because it keeps queues without GPUs from admitting the pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import OPAQUE, kind_of
from packyard.core.yaml.document import entries, walk
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
        for field in (field for node in walk(entry.value) for field in entries(node)):
            if field.name in _SWITCHES and field.text == "false":
                yield _left_out(field, f"{field.name} is false by default")
    for root in parsed.objects:
        if kind_of(root) in OPAQUE:
            continue
        for entry in (entry for node in walk(root) for entry in entries(node)):
            if _is_default(entry, bool(parsed.changed_by(entry.value))):
                yield _left_out(entry, f"{entry.name} has the value that Kubernetes uses by default")
        for container in parsed.containers_of(root):
            yield from _resources(container, parsed)


def _left_out(entry: Entry, message: str) -> Finding:
    return breach("default-written-out", entry, message, "remove it", REMOVE)


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
    for entry in entries(container.find("resources", "requests")):
        limit = container.scalar("resources", "limits", entry.name)
        if not isinstance(entry.value, Scalar) or not limit or entry.value.value != limit.value:
            continue
        if parsed.changed_by(entry.value) == parsed.changed_by(limit):
            yield _left_out(entry, f"the request of {entry.name} equals the limit, which is the default")
