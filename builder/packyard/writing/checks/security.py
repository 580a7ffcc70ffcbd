"""Pods that namespaces of a Pod Security level refuse.

What a namespace of level ``baseline`` refuses is one finding for each pod, and so is what only ``restricted`` refuses,
without the kind of its volumes, which is a choice, and its user, which `practice` reports. A comment in the fields is a
reason for a pod that needs more.
"""

import re
from collections.abc import Iterator

from packyard.core.kubernetes import pod_security
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.node import Entry, MappingNode, Node
from packyard.writing.checks.applied_objects import Applied
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_MOST_NAMED = 3
_ELSEWHERE = re.compile(r" is of the type |runAsNonRoot|user 0$")


def check(subject: Subject, applied: Applied) -> Iterator[Finding]:
    """Find pods that a stricter level than their own refuses."""
    both = [pair for item in applied.objects for pair in zip(subject.pods_of(item.root), item.pods, strict=False)]
    for pod, as_value in both:
        level = pod_security.find([as_value])
        objections = [objection for objection in level.objections if not _ELSEWHERE.search(objection)] if level else []
        if level is None or not objections:
            continue
        refuses = "baseline" if level.name == "privileged" else "restricted"
        named = "; ".join(objections[:_MOST_NAMED])
        more = f"; and {len(objections) - _MOST_NAMED} more" if len(objections) > _MOST_NAMED else ""
        message = f"a namespace of Pod Security level {refuses} refuses the pod: {named}{more}"
        place = _place(pod, objections[0])
        if refuses == "baseline":
            yield breach("above-baseline", place, message, "remove what it does not need")
        else:
            yield breach(
                "above-restricted",
                place,
                message,
                "in its securityContext; `packyard lint --explain above-restricted` has the lines",
            )


def _place(pod: Pod[MappingNode], objection: str) -> Entry | Node:
    """Return what an objection is about: a volume, a container, or the pod."""
    for volume in pod.volumes:
        if objection.startswith(f"volume {volume.text('name')} ") and (entry := volume.entry("hostPath")):
            return entry
    for container in pod.containers:
        if objection.startswith(f"container {container.text('name')} "):
            return container.entry("securityContext") or container
    return pod.spec.entry("securityContext") or pod.spec
