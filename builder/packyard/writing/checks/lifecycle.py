"""Faults of how pods start and end: restart policies, retries, what nobody asks whether it is ready.

Deployment    restartPolicy: Always alone         Job    OnFailure or Never
MPIJob        the restartPolicy of a role, which replaces that of its pods
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import APPS, CORE, is_kind, of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.selectors import selected

_ENDLESS = (*of(APPS, "Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), (CORE, "ReplicationController"))


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find pods that the API server rejects for how they end, that never end, or that get requests too early."""
    selectors = (root.mapping("spec", "selector") for root in parsed.objects if is_kind(root, CORE, "Service"))
    served = [selector for selector in selectors if selector and selector.entries]
    for root in parsed.objects:
        for pod in parsed.pods_of(root):
            yield from _training(pod, root, parsed)
            if is_kind(root, APPS, "Deployment", "StatefulSet"):
                yield from _unready(pod, served)


def _training(pod: Pod[MappingNode], root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a task of a TensorFlow cluster under a kind that starts it again when it has ended."""
    if not any(is_kind(root, group, kind) for group, kind in _ENDLESS):
        return
    for container in pod.containers:
        if place := variables.find(container, parsed).named.get("TF_CONFIG"):
            message = f"a {root.text('kind')} starts a training that has ended again, for ever"
            yield breach("training-restarts", place, message, "make it a Job, or a TFJob")


def _unready(pod: Pod[MappingNode], served: list[MappingNode]) -> Iterator[Finding]:
    """Find pods behind a Service that get requests before they can answer."""
    if not any(selected(selector, [pod]) for selector in served):
        return
    listed = mappings(pod.spec.get("containers"))
    if listed and not any(container.get("readinessProbe") for container in listed):
        message = "a Service sends requests to the pod as soon as it runs: nothing asks whether it is ready"
        yield breach("no-readiness-probe", listed[0], message, "add a readinessProbe")
