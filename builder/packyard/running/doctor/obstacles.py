"""Why a node, however empty, takes no pod of a set: one reason for each node, and nodes counted by it.

    3 have no nvidia.com/gpu, 2 have the taint nvidia.com/gpu=present:NoSchedule

A node that has several reasons is counted for the one that is hardest to change: whoever tolerates a taint that is told
gets that node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import requests, selection, trouble
from packyard.core.kubernetes.lenient import Object, mapping, mappings, text
from packyard.core.kubernetes.requests import Amounts, shown

#: Reasons, the hardest to change first, and what is said of one node and of several.
_SAID = {
    "label": ("lacks the labels {}", "lack the labels {}"),
    "volume": ("cannot reach the volume of claim {}", "cannot reach the volume of claim {}"),
    "device": ("has no {}", "have no {}"),
    "amount": ("has too little {}", "have too little {}"),
    "ready": ("is not ready", "are not ready"),
    "cordon": ("is cordoned", "are cordoned"),
    "taint": ("has the taint {}", "have the taint {}"),
}
_ORDER = tuple(_SAID)
#: How the keys of taints begin by which Kubernetes, clouds and autoscalers say how a node is.
_PASSING = (
    *("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "node.cilium.io/"),
    *("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a pod asks of a node: ``spec`` has the fields that say where it may run, ``volumes`` those of its claims."""

    spec: Object
    requests: Amounts
    volumes: Mapping[str, Object]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a node takes no pod: ``kind`` is one of label, volume, device, amount, ready, cordon, taint."""

    kind: str
    what: str = ""


def find(wanted: Wanted, node: Object, whole: Amounts) -> Obstacle | None:
    """Return why a node that gives ``whole`` to pods takes none of these; None where it does."""
    return next(_find(wanted, node, whole), None)


def describe(wanted: Wanted, pairs: Sequence[tuple[Obstacle, Amounts]]) -> str:
    """Return in words how many nodes have which obstacle; with each is what its node has in all."""
    parts = []
    for each in sorted({obstacle for obstacle, _ in pairs}, key=lambda each: (_ORDER.index(each.kind), each.what)):
        these = [whole for obstacle, whole in pairs if obstacle == each]
        words = _SAID[each.kind][len(these) > 1].format(each.what)
        parts.append(f"{len(these)} {words}{_amounts(wanted, each, these)}")
    return ", ".join(parts)


def taint_keys(wanted: Wanted, node: Object) -> list[str]:
    """Return the keys of the taints that keep the pods away from a node; none where one of them says how the node is.

    Such a taint, of a node that is full or about to go, is taken away again, and not for pods to tolerate.
    """
    keys = [each.partition("=")[0].partition(":")[0] for each in selection.intolerable(wanted.spec, node)]
    return [] if any(key.startswith(_PASSING) for key in keys) else keys


def _find(wanted: Wanted, node: Object, whole: Amounts) -> Iterator[Obstacle]:
    if not selection.admits(wanted.spec, node):
        yield Obstacle("label", labels(wanted.spec))
    for claim, volume in wanted.volumes.items():
        if not selection.reaches(volume, node):
            yield Obstacle("volume", claim)
    lacking = sorted(name for name, amount in wanted.requests.items() if whole.get(name, 0) < amount)
    if absent := [name for name in lacking if not whole.get(name)]:
        yield Obstacle("device", ", ".join(absent))
    if lacking:
        yield Obstacle("amount", ", ".join(lacking))
    if not trouble.is_ready(node):
        yield Obstacle("ready")
    if selection.is_cordoned(wanted.spec, node):
        yield Obstacle("cordon")
    if taints := selection.intolerable(wanted.spec, node):
        yield Obstacle("taint", ", ".join(taints))


def _amounts(wanted: Wanted, obstacle: Obstacle, nodes: Sequence[Amounts]) -> str:
    """Return what a pod asks for, and the most that these nodes have of it, or what else of that maker."""
    names, most = obstacle.what.split(", "), requests.most(nodes)
    if obstacle.kind == "device":
        makers = {name.partition("/")[0] for name in names if "/" in name}
        others = sorted(name for name, amount in most.items() if amount and name.partition("/")[0] in makers)
        return f" (nodes offer {', '.join(others)})" if others else ""
    if obstacle.kind != "amount":
        return ""
    asked = ", ".join(shown(name, wanted.requests[name]) for name in names)
    return f" ({asked} asked for, {', '.join(shown(name, most.get(name, 0)) for name in names)} the most)"


def labels(spec: Object) -> str:
    """Return in words which labels a pod asks for."""
    wanted = [f"{key}={value}" for key, value in mapping(spec.get("nodeSelector")).items()]
    terms = mappings(mapping(selection.required(spec, "nodeAffinity")).get("nodeSelectorTerms"))
    for rule in (rule for term in terms for rule in mappings(term.get("matchExpressions"))):
        values = rule.get("values")
        shown_values = f" ({', '.join(map(str, values))})" if isinstance(values, list) else ""
        wanted.append(f"{text(rule.get('key'))} {text(rule.get('operator'))}{shown_values}")
    return ", ".join(wanted) or "none"
