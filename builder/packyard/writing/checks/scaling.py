"""Numbers of an autoscaler, of whatever kind, and what it measures.

minReplicas: 5                       of KServe, KEDA, Ray and elastic training, as of a HorizontalPodAutoscaler
maxReplicas: 3
resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}      a share of a request that a pod lacks
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import called, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import ray, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_BOUNDS = {"minReplicas": "maxReplicas", "minReplicaCount": "maxReplicaCount"}
KEDA = "keda.sh"
_SCALER = ("autoscaling", "HorizontalPodAutoscaler")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find least numbers above the greatest, and autoscalers that can measure nothing."""
    for root in parsed.fresh:
        if is_kind(root, *_SCALER):
            yield from _metrics(root, parsed)
            continue  # whose bounds the API server judges
        for trigger in (
            mappings(root.find("spec", "triggers")) if is_kind(root, KEDA, "ScaledObject", "ScaledJob") else ()
        ):
            type_ = trigger.scalar("type")
            if type_ and type_.value != type_.value.lower() and not variables.is_filled_in(type_.value):
                message = f"KEDA has no trigger {type_.value!r}"
                yield breach("wrong-value", type_, message, type_.value.lower())
        for holder, entry in parsed.entries_of(root, *_BOUNDS):
            yield from _above(entry.name, entry.value, holder)
        cluster = ray.cluster_of(root)
        for group in mappings(cluster.get("workerGroupSpecs")) if cluster else ():
            replicas, most = group.scalar("replicas"), group.text("maxReplicas")
            if replicas and replicas.value.isdecimal() and most.isdecimal() and int(replicas.value) > int(most):
                message = f"replicas is {replicas.value}, and maxReplicas {most}: the operator starts no more"
                yield breach("wrong-value", replicas, message, "raise maxReplicas", severity="warning")


def _above(name: str, least: object, holder: MappingNode) -> Iterator[Finding]:
    most = holder.text(_BOUNDS[name])
    if isinstance(least, Scalar) and least.value.isdecimal() and most.isdecimal() and int(least.value) > int(most):
        message = f"{name} is {least.value}, and {_BOUNDS[name]} {most}"
        yield breach("wrong-value", least, message, f"raise {_BOUNDS[name]}")


def _metrics(root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a share of a resource that a container of the pods neither requests nor limits: it counts for nothing."""
    target = root.mapping("spec", "scaleTargetRef")
    wanted = (target.text("kind"), target.text("name")) if target else ("", "")
    scaled = [each for each in parsed.objects if (kind_of(each)[1], called(each)) == wanted and called(each)]
    is_defaulted = any(root.text("kind") == "LimitRange" for root in parsed.objects)
    for metric in mappings(root.find("spec", "metrics")) if parsed.complete and not is_defaulted else ():
        resource = metric.mapping("resource")
        share = resource.scalar("target", "averageUtilization") if resource else None
        name = resource.text("name") if resource else ""
        lacking = (pod for each in scaled for pod in parsed.pods_of(each) if not _asks(pod, name))
        if share and name and next(lacking, None):
            message = f"a share of the {name} that pods request, and a container of {wanted[1]} requests none"
            yield breach("no-such-metric", share, f"the autoscaler measures {message}", f"request {name}")


def _asks(pod: Pod[MappingNode], name: str) -> bool:
    """Say whether each container has a request, or the pod as a whole; a limit is one too."""
    held = [pod.spec, *mappings(pod.spec.get("containers"))]
    asks = [any(each.find("resources", field, name) for field in ("requests", "limits")) for each in held]
    return asks[0] or all(asks[1:])
