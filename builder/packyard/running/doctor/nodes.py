"""Whether some node, however empty, takes the pods: by labels, devices, size, and taints that they tolerate.

A scheduler is not simulated: whether all pods find room at once, and beside which others, is seen when they run. Nodes
may also be added on demand. So all that is told here are warnings:

    none of 5 nodes takes its pods: 3 without nvidia.com/gpu, 2 with the taint nvidia.com/gpu=present:NoSchedule

A node that is cordoned or not ready has a taint that says so. One with several reasons is counted for the one that
is hardest to change: whoever tolerates a taint that is told gets that node.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from packyard.core.kubernetes import selection
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of
from packyard.running.doctor import demand
from packyard.running.doctor.demand import Amounts, amounts, number
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, passed, warning

_CHECK = "nodes"
_COLUMNS = "kubectl get nodes -o custom-columns=NAME:.metadata.name"
_AMOUNTS, _TAINTS = f"{_COLUMNS},ALLOCATABLE:.status.allocatable", f"{_COLUMNS},TAINTS:.spec.taints"
#: What keeps a node from taking a pod, the hardest to change first; what helps, and the command that shows it.
_REASONS = {
    "without the labels": ("", "kubectl get nodes --show-labels"),
    "without": ("; a device plugin offers devices", _AMOUNTS),
    "with too little": ("", _AMOUNTS),
    "with the taint": ("; the option node-pool has pods tolerate one: its parameter NODE_TAINT", _TAINTS),
}
_ORDER = tuple(_REASONS)


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for all nodes."""
    return Questions(everywhere=frozenset({"Node"} if demand.find(objects) else ()))


def take(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find a node for each set of pods."""
    sets = demand.find(objects)
    nodes = facts.all("Node") if sets else ()
    for pod_set in sets:
        requests = demand.requests(pod_set.pod)
        # Of an Argo template they are as its Workflow says.
        pod = {name: pod_set.pod.get(name) for name in ("nodeSelector", "affinity", "tolerations", "nodeName")}
        reasons = Counter(_reason(pod, requests, node) for node in nodes)
        yield passed(_CHECK, pod_set.who) if None in reasons else _lack(pod_set.who, reasons)


def _lack(who: str, reasons: Counter[tuple[str, str] | None]) -> Finding:
    """Return what keeps the pods from all nodes, counted, with what to look at first: what is easiest to change."""
    known = sorted(filter(None, reasons), key=lambda reason: (_ORDER.index(reason[0]), reason[1]))
    parts = ", ".join(f"{reasons[lack]} {' '.join(lack)}".strip() for lack in known)
    message = f"none of {reasons.total()} nodes takes its pods: {parts}" if known else "there is no node"
    helps, fix = _REASONS[known[-1][0]] if known else ("", "kubectl get nodes")
    return warning(_CHECK, who, message, why=f"its pods stay Pending, unless nodes are added{helps}", fix=fix)


def _reason(pod: Object, requests: Amounts, node: Object) -> tuple[str, str] | None:
    """Return what keeps a node from taking a pod and is the hardest to change; None where it takes it."""
    whole = amounts(mapping(node.get("status")).get("allocatable"))
    lacking = sorted(name for name, amount in requests.items() if whole.get(name, 0) < amount)
    is_admitted = selection.admits(pod, node) and pod.get("nodeName") in (None, name_of(node))
    of_node = (
        [] if is_admitted else _labels(pod),
        [name for name in lacking if not whole.get(name)],
        [f"{name} ({number(name, requests[name])} asked for)" for name in lacking],
        selection.intolerable(pod, node),
    )
    return next(((what, ", ".join(words)) for what, words in zip(_ORDER, of_node, strict=True) if words), None)


def _labels(pod: Object) -> list[str]:
    """Return in words which labels a pod asks for, and which node."""
    terms = mappings(mapping(selection.required(pod)).get("nodeSelectorTerms"))
    return [
        *(f"{key}={value}" for key, value in mapping(pod.get("nodeSelector")).items()),
        *([f"metadata.name={pod['nodeName']}"] if pod.get("nodeName") else []),
        *(" ".join(map(str, rule.values())) for term in terms for rule in mappings(term.get("matchExpressions"))),
    ] or ["none"]
