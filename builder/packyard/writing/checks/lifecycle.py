"""Faults of how pods start and end: restart policies, retries, what nobody asks whether it is ready.

Deployment    restartPolicy: Always alone         Job    OnFailure or Never
MPIJob        the restartPolicy of a role, which replaces that of its pods
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, JOBSET, KUBEFLOW, TRAINER, is_kind, of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings, scalars, walk
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.selectors import selected

_ENDLESS = (*of(APPS, "Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), (CORE, "ReplicationController"))
_OF_JOBS = ((JOBSET, "JobSet"), *of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"))
_MOST_RETRIES = 100
_GRACE = "30"  # seconds, where a pod says none
_SLEEP = re.compile(r"(?:^|\s)(?:/bin/)?sleep (\d+)\Z")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find pods that the API server rejects for how they end, that never end, or that get requests too early."""
    selectors = (root.mapping("spec", "selector") for root in parsed.objects if is_kind(root, CORE, "Service"))
    served = [selector for selector in selectors if selector and selector.entries]
    for root in parsed.objects:
        if is_kind(root, CORE, "ReplicationController"):
            message = "a ReplicationController starts what has ended again, and nobody updates it step by step"
            yield breach("old-kind", root, message, "make it a Deployment, or a Job")
        for pod in parsed.pods_of(root):
            yield from _restarts(pod, root)
            yield from _ends(pod)
            yield from _training(pod, root, parsed)
            if is_kind(root, APPS, "Deployment", "StatefulSet"):
                yield from _unready(pod, served)
        yield from _retries(root)
        yield from _idle(root)


def _restarts(pod: Pod[MappingNode], root: MappingNode) -> Iterator[Finding]:
    policy = pod.spec.scalar("restartPolicy") if not pod.is_argo else None
    text, place = (policy.value, policy) if policy else ("", pod.spec)
    if is_kind(root, BATCH, "Job", "CronJob"):
        if text not in ("OnFailure", "Never"):
            what = f"is {text!r}" if text else "is missing"
            message = f"restartPolicy {what}: a Job's pod must have OnFailure or Never"
            yield breach("restart-policy", place, message, "restartPolicy: OnFailure")
    elif text == "Always" and any(is_kind(root, group, kind) for group, kind in _OF_JOBS):
        message = f"restartPolicy is {text!r}: the Jobs of a {root.text('kind')} must have OnFailure or Never"
        yield breach("restart-policy", place, message, "restartPolicy: OnFailure")
    elif text and any(is_kind(root, group, kind) for group, kind in _ENDLESS):
        if text != "Always":
            message = f"restartPolicy is {text!r}: the pods of a {root.text('kind')} must have Always"
            yield breach("restart-policy", place, message, "remove it, or make it a Job")
    elif text and is_kind(root, KUBEFLOW, "MPIJob", "TFJob", "PyTorchJob"):
        message = "the operator replaces the restartPolicy of a pod by that of its role"
        yield breach("restart-policy-ignored", place, message, "put it beside the template")


def _ends(pod: Pod[MappingNode]) -> Iterator[Finding]:
    """Find a hook that sleeps as long as its pod has to end: the program is killed without a word."""
    left = pod.spec.text("terminationGracePeriodSeconds", _GRACE)
    for container in pod.containers:
        hook = container.mapping("lifecycle", "preStop")
        words = scalars(hook.find("exec", "command")) if hook else []
        slept = _SLEEP.search(" ".join(word.value for word in words))
        seconds = hook.scalar("sleep", "seconds") if hook else None
        text = slept[1] if slept else seconds.value if seconds else ""
        if text.isdecimal() and left.isdecimal() and int(text) >= int(left):
            message = f"the hook sleeps for {text} seconds, and the pod has {left} to end: then it is killed"
            place = seconds or words[-1]
            yield breach("no-time-to-end", place, message, f"terminationGracePeriodSeconds: {int(text) + int(_GRACE)}")


def _retries(root: MappingNode) -> Iterator[Finding]:
    for node in (root.scalar("spec", "backoffLimit"), root.scalar("spec", "runPolicy", "backoffLimit")):
        if node and node.value.isdecimal() and int(node.value) > _MOST_RETRIES:
            message = f"a run that cannot work is tried {node.value} times, which takes days"
            yield breach("endless-retries", node, message, "lower backoffLimit")


def _idle(root: MappingNode) -> Iterator[Finding]:
    """Find a Job that would run more pods at once than it needs in all."""
    for node in walk(root):
        most, needed, entry = node.text("parallelism"), node.text("completions"), node.entry("parallelism")
        if entry and most.isdecimal() and needed.isdecimal() and int(most) > int(needed):
            message = f"parallelism is {most}, and the Job needs {needed} pods in all: no more run"
            yield breach("parallelism-without-effect", entry, message, "make them the same")


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
