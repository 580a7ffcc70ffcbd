"""What weakens a cluster: pods that namespaces of a Pod Security level refuse, servers that are open to everybody.

What a namespace of level ``baseline`` refuses is one finding for each pod, and so is what only ``restricted`` refuses,
without the kind of its volumes, which is a choice, and its user, which `practice` reports. A comment in the fields is a
reason for a pod that needs more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.errors import InputError
from packyard.core.kubernetes import mpi_jobs, pod_security, pods
from packyard.core.kubernetes.kinds import CORE, is_kind
from packyard.core.kubernetes.lenient import Object
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.core.yaml.values import to_value
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_MOST_NAMED = 3
_ELSEWHERE = re.compile(r" is of the type |runAsNonRoot|user 0$")
_PLAIN = re.compile(
    r"http://(?!localhost\b|127\.)([A-Za-z0-9-]+\.)+(?!svc\b|local\b|internal\b|cluster\b)[a-z]{2,}(?=[:/]|\Z)"
)
_ENDPOINT = re.compile(r"(?i)(^|_)(ENDPOINT|URL|URI)(_URL)?$")
#: Annotations by which clouds make a load balancer internal, or limit who reaches it.
_LIMITED = re.compile(r"internal|scheme|source-ranges|security-groups")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what a cluster should not have to admit."""
    for root in parsed.objects:
        yield from _levels(root, parsed)
        if is_kind(root, CORE, "Service"):
            yield from _public(root)
        for container in parsed.containers_of(root):
            yield from _root_ranks(container)
            yield from _plain(container, parsed)


def _levels(root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find pods that a stricter level than their own refuses."""
    own_pods = parsed.pods_of(root)
    try:
        value = to_value(root) if own_pods else {}
    except InputError:  # which other checks report
        return
    plain: list[Pod[Object]] = pods.find(value) if isinstance(value, dict) else []
    for pod, as_value in zip(own_pods, plain, strict=False):
        level = pod_security.find([as_value])
        objections = [each for each in level.objections if not _ELSEWHERE.search(each)] if level else []
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
            yield breach("above-restricted", place, message, "add the fields")


def _place(pod: Pod[MappingNode], objection: str) -> Entry | Node:
    """Return what an objection is about: a volume, a container, or the pod."""
    for volume in pod.volumes:
        if objection.startswith(f"volume {volume.text('name')} ") and (entry := volume.entry("hostPath")):
            return entry
    for container in pod.containers:
        if objection.startswith(f"container {container.text('name')} "):
            return container.entry("securityContext") or container
    return pod.spec.entry("securityContext") or pod.spec


def _public(service: MappingNode) -> Iterator[Finding]:
    """Find a load balancer that everybody may reach."""
    spec = service.mapping("spec")
    entry = spec.entry("type") if spec and spec.text("type") == "LoadBalancer" else None
    limited = any(_LIMITED.search(mark.name) for mark in entries(service.find("metadata", "annotations")))
    if spec and entry and not spec.get("loadBalancerSourceRanges") and not limited:
        message = "the load balancer answers everybody who reaches it"
        yield breach("open-load-balancer", entry, message, "add loadBalancerSourceRanges")


def _root_ranks(container: MappingNode) -> Iterator[Finding]:
    texts = list(variables.words(container))
    if not mpi_jobs.starts_ranks([word for text in texts for word in text.value.split()]):
        return
    for text in texts:
        if "allow-run-as-root" in text.value:
            message = "mpirun is told to start its processes as root"
            yield breach("mpirun-as-root", text, message, "run the pods as another user")


def _plain(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    for name, value in variables.find(container, parsed).values.items():
        if _ENDPOINT.search(name) and isinstance(value, Scalar) and _PLAIN.match(value.value):
            message = (
                f"{name} is an address without TLS outside of the cluster: others can read and change what is sent"
            )
            yield breach("plain-http", value, message, "https://")
