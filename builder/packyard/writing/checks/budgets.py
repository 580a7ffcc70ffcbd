"""Budgets that let no pod be evicted: a node of theirs can never be drained."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import APPS, POLICY, called, is_kind, kind_of, of
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks import selectors
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_SCALED = of(APPS, "Deployment", "StatefulSet", "ReplicaSet")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find budgets that are as large as what they are for."""
    for root in parsed.objects:
        if not is_kind(root, POLICY, "PodDisruptionBudget"):
            continue
        least = root.scalar("spec", "minAvailable")
        if least and least.value.isdecimal() and 0 < (replicas := _replicas(root, parsed)) <= int(least.value):
            message = f"minAvailable is {least.value}, and there are {replicas} pods: none may be evicted"
            yield breach("never-evicted", least, message, "let one of them go: maxUnavailable: 1")


def _replicas(budget: MappingNode, parsed: Parsed) -> int:
    """Return how many pods a budget is for, of those that an autoscaler makes the fewest; 0 where nobody knows."""
    selector = budget.mapping("spec", "selector", "matchLabels")
    scalers = [spec for root in parsed.objects if (spec := root.mapping("spec")) and spec.mapping("scaleTargetRef")]
    fewest = {target.value: spec for spec in scalers if (target := spec.scalar("scaleTargetRef", "name"))}
    count = 0
    for root in parsed.objects if selector and parsed.complete else ():
        if not selectors.selected(selector, parsed.pods_of(root)):
            continue
        scaler, spec = fewest.get(called(root)), root.mapping("spec")
        number = scaler.text("minReplicas") if scaler else spec.text("replicas", "1") if spec else ""
        if kind_of(root) not in _SCALED or not number.isdecimal():
            return 0
        count += int(number)
    return count
