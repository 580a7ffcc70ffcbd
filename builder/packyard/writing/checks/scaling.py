"""What an autoscaler measures: a share of a request that a container of its pods has."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import called, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find autoscalers that can measure nothing."""
    for root in parsed.fresh:
        if is_kind(root, "autoscaling", "HorizontalPodAutoscaler"):
            yield from _metrics(root, parsed)


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
