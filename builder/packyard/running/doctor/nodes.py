"""Whether some node, however empty, takes the pods: by labels, devices, size, and taints that they tolerate.

A scheduler is not simulated: whether all pods find room at once, and beside which others, is seen when they run. Nodes
may also be added on demand. So all that is told here are warnings:

    none of 5 nodes takes its pods: 3 have no nvidia.com/gpu, 2 have the taint nvidia.com/gpu=present:NoSchedule

A node that has several reasons is counted for the one that is hardest to change: whoever tolerates a taint that is told
gets that node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from packyard.core.kubernetes import selection
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, passed, warning
from packyard.running.doctor.wanted import PodSet
from packyard.running.runs import requests, trouble
from packyard.running.runs.requests import Amounts, shown

_CHECK = "nodes"
_AMOUNTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,ALLOCATABLE:.status.allocatable"
_TAINTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"
#: Reasons, the hardest to change first: what is said of one node, of several, and the command that shows it.
_REASONS = {
    "label": ("lacks the labels {}", "lack the labels {}", "kubectl get nodes --show-labels"),
    "device": ("has no {}", "have no {}", _AMOUNTS),
    "amount": (
        "has too little {}",
        "have too little {}",
        _AMOUNTS,
    ),
    "ready": ("is not ready", "are not ready", "kubectl get nodes"),
    "cordon": ("is cordoned", "are cordoned", "kubectl get nodes"),
    "taint": ("has the taint {}", "have the taint {}", _TAINTS),
}
_ORDER = tuple(_REASONS)
#: How the keys of taints begin by which Kubernetes, clouds and autoscalers say how a node is: no pod tolerates them.
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "ToBeDeletedByCluster")

#: Why a node takes no pod: a key of `_REASONS`, and what its words are about.
Obstacle = tuple[str, str]


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for all nodes."""
    return Questions(everywhere=frozenset({"Node"} if wanted.find(objects) else ()))


def take(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find a node for each set of pods."""
    sets = wanted.find(objects)
    nodes = facts.all("Node") if sets else ()
    for pod_set in sets:
        asked = {name: amount for name, amount in requests.of(pod_set.pod).requests.items() if amount}
        obstacles = [_obstacle(_placing(pod_set), asked, node) for node in nodes]
        yield passed(_CHECK, pod_set.who) if None in obstacles else _lack(pod_set, asked, obstacles, nodes)


def _obstacle(pod: Object, asked: Amounts, node: Object) -> Obstacle | None:
    """Return the reason of a node that is the hardest to change; None where it takes the pod."""
    whole = _whole(node)
    lacking = sorted(name for name, amount in asked.items() if whole.get(name, 0) < amount)
    taints = selection.intolerable(pod, node)
    is_admitted = selection.admits(pod, node) and pod.get("nodeName") in (None, name_of(node))
    reasons = {
        "label": "" if is_admitted else _labels(pod),
        "device": ", ".join(name for name in lacking if not whole.get(name)),
        "amount": ", ".join(lacking),
        "ready": "" if trouble.is_ready(node) else "not",
        "cordon": "yes" if selection.is_cordoned(pod, node) else "",
        "taint": ", ".join(taints),
    }
    return next(((kind, what) for kind, what in reasons.items() if what), None)


def _lack(pod_set: PodSet, asked: Amounts, obstacles: Sequence[Obstacle | None], nodes: Sequence[Object]) -> Finding:
    """Return what keeps the pods from all nodes, counted, with what to look at first: what is easiest to change."""
    pairs = [(obstacle, node) for obstacle, node in zip(obstacles, nodes, strict=True) if obstacle]
    parts = []
    for kind, what in sorted({each for each, _ in pairs}, key=lambda each: (_ORDER.index(each[0]), each[1])):
        those = [_whole(node) for obstacle, node in pairs if obstacle == (kind, what)]
        parts.append(f"{len(those)} {_REASONS[kind][len(those) > 1].format(what)}{_amounts(kind, what, asked, those)}")
    message = f"none of {len(nodes)} nodes takes its pods: {', '.join(parts)}" if nodes else "there is no node"
    kinds = {kind for (kind, _), _ in pairs}
    why = "its pods stay Pending, unless nodes are added"
    why += "; a device plugin offers devices" if kinds == {"device"} else ""
    fix = next((_REASONS[kind][2] for kind in reversed(_ORDER) if kind in kinds), "kubectl get nodes")
    taints = (_keys(_placing(pod_set), node) for (kind, _), node in pairs if kind == "taint")
    found = warning(_CHECK, pod_set.who, message, why=why, fix=fix)
    return replace(found, taints=next(filter(None, taints), ()))


def _keys(pod: Object, node: Object) -> tuple[str, ...]:
    """Return the keys of the taints that a pod would have to tolerate; none where one of them says how the node is."""
    keys = [each.partition("=")[0].partition(":")[0] for each in selection.intolerable(pod, node)]
    return () if any(key.startswith(_PASSING) for key in keys) else tuple(keys)


def _amounts(kind: str, what: str, asked: Amounts, nodes: Sequence[Amounts]) -> str:
    """Return what a pod asks for, and the most that these nodes have of it, or what else of that maker."""
    names, most = what.split(", "), requests.most(nodes)
    if kind == "device":
        makers = {name.partition("/")[0] for name in names if "/" in name}
        others = sorted(name for name, amount in most.items() if amount and name.partition("/")[0] in makers)
        return f" (nodes offer {', '.join(others)})" if others else ""
    if kind != "amount":
        return ""
    wants = ", ".join(shown(name, asked[name]) for name in names)
    return f" ({wants} asked for, {', '.join(shown(name, most.get(name, 0)) for name in names)} the most)"


def _placing(pod_set: PodSet) -> Object:
    """Return the fields of a pod that say where it may run; those of an Argo template are as its Workflow says."""
    return {name: pod_set.pod.get(name) for name in ("nodeSelector", "affinity", "tolerations", "nodeName")}


def _whole(node: Object) -> Amounts:
    return requests.amounts(mapping(node.get("status")).get("allocatable"))


def _labels(pod: Object) -> str:
    """Return in words which labels a pod asks for, and which node."""
    asked = [f"{key}={value}" for key, value in mapping(pod.get("nodeSelector")).items()]
    asked += [f"metadata.name={pod['nodeName']}"] if pod.get("nodeName") else []
    terms = mappings(mapping(selection.required(pod)).get("nodeSelectorTerms"))
    for rule in (rule for term in terms for rule in mappings(term.get("matchExpressions"))):
        values = rule.get("values")
        listed = f" ({', '.join(map(str, values))})" if isinstance(values, list) else ""
        asked.append(f"{text(rule.get('key'))} {text(rule.get('operator'))}{listed}")
    return ", ".join(asked) or "none"
