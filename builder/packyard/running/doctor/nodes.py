"""Whether there are nodes for the pods: with the labels, taints and devices they ask for, and room for all at once.

Room is what a node can give, without what pods there ask for. Pods are placed one set after the other, those with the
fewest nodes first, each on the nodes that it fits worst: where this finds no place, a scheduler nearly never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import pods, requests, selection, trouble
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text
from packyard.core.kubernetes.requests import Amounts, shown
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.doctor.wanted import PodSet

_CHECK = "nodes"
_HOST = "kubernetes.io/hostname"
_ONE = 10**9  # of what is counted, in the unit of quantities
_TAINTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"
_AMOUNTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,ALLOCATABLE:.status.allocatable"


@dataclass(frozen=True, slots=True)
class _Node:
    """A node, what it can give to pods in all, what of it is free, and the labels of the pods on it, by namespace."""

    item: Object
    whole: Amounts
    free: Amounts
    neighbors: Sequence[tuple[str, Mapping[str, object]]]


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for all nodes, and for all pods that hold a part of one."""
    return Questions(everywhere=frozenset({"Node", "Pod"} if wanted.find(objects) else ()))


def fit(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find nodes for each set of pods, and room for all that run at once."""
    sets = wanted.find(objects)
    if not sets:
        return
    nodes = _nodes(facts, wanted.there(objects, facts))
    lacking = [(each, _lack(each, nodes)) for each in sets]
    for each, lack in lacking:
        yield lack or passed(_CHECK, each.who)
        yield from _not_computed(each)
    if any(lack for _, lack in lacking):
        return
    for moment in wanted.moments(sets):
        yield _room(moment, nodes, facts)


def _nodes(facts: Facts, own: Sequence[Object]) -> list[_Node]:
    """Return the nodes; what the run has there already leaves its room to it."""
    on: dict[str, list[Object]] = {}
    own_places = {id(item) for item in own}
    for item in (each for each in facts.all("Pod") if id(each) not in own_places):
        on.setdefault(text(mapping(item.get("spec")).get("nodeName")), []).append(item)
    return [_node(item, on.get(name_of(item), ())) for item in facts.all("Node")]


def _node(item: Object, there: Sequence[Object]) -> _Node:
    whole = requests.amounts(mapping(item.get("status")).get("allocatable"))
    held = requests.total([*(_asked(pod) for each in there for pod in pods.find(each))])
    free = {name: amount - held.get(name, 0) for name, amount in whole.items()}
    found = (mapping(each.get("metadata")) for each in there)
    return _Node(item, whole, free, [(text(each.get("namespace")), mapping(each.get("labels"))) for each in found])


def _asked(pod: pods.Pod[Object]) -> Amounts:
    """Return what a pod takes of a node, of which it also is one of the pods."""
    return {**{name: each for name, each in requests.of(pod).requests.items() if each}, "pods": _ONE}


def _lack(each: PodSet, nodes: Sequence[_Node]) -> Finding | None:
    """Return why no node, however empty, takes a pod of a set."""
    spec = _spec(each)
    labelled = [node for node in nodes if selection.admits(spec, node.item)]
    if not labelled:
        message = f"none of {len(nodes)} nodes has the labels that it asks for: {_labels(spec)}"
        return error(_CHECK, each.who, message, why="its pods stay Pending", fix="kubectl get nodes --show-labels")
    ready = [node for node in labelled if _is_ready(node.item)]
    if not ready:
        message = "no node that it may run on is ready and takes pods"
        return error(_CHECK, each.who, message, why="its pods stay Pending", fix="kubectl get nodes")
    open_nodes = [node for node in ready if not selection.intolerable(spec, node.item)]
    if not open_nodes:
        taints = sorted({taint for node in ready for taint in selection.intolerable(spec, node.item)})
        message = f"does not tolerate the taints of the nodes that it may run on: {', '.join(taints)}"
        return error(_CHECK, each.who, message, why="its pods stay Pending", fix=_TAINTS)
    asked = _asked(each.pod)
    largest = requests.most(node.whole for node in open_nodes)
    if few := {name: amount for name, amount in asked.items() if largest.get(name, 0) < amount}:
        parts = [f"{shown(name, amount)} ({_largest(name, largest)})" for name, amount in sorted(few.items())]
        message = f"each pod asks for {', '.join(parts)}"
        why = "its pods stay Pending" + ("" if "cpu" in few or "memory" in few else "; a device plugin offers devices")
        return error(_CHECK, each.who, message, why=why, fix=_AMOUNTS)
    if not any(all(node.whole.get(name, 0) >= amount for name, amount in asked.items()) for node in open_nodes):
        return error(_CHECK, each.who, "no node has all that a pod asks for", why="they stay Pending", fix=_AMOUNTS)
    return None


def _largest(name: str, largest: Amounts) -> str:
    return f"the largest node has {shown(name, largest[name])}" if largest.get(name) else "no node it may use has any"


def _room(moment: Sequence[PodSet], nodes: Sequence[_Node], facts: Facts) -> Finding:
    about = ", ".join(dict.fromkeys(each.who for each in moment))
    count = sum(each.count for each in moment)
    if not _left(moment, nodes, facts, free=True):
        return passed(_CHECK, f"room for {count} pods at once")
    asked = requests.total(requests.times(_asked(each.pod), each.count) for each in moment)
    parts = [shown(name, amount) for name, amount in sorted(asked.items()) if name != "pods"]
    message = f"there is no room for all {count} pods at once: {', '.join(parts)} in all"
    why = "those that find none stay Pending, and others wait for them and hold what they have"
    if left := _left(moment, nodes, facts, free=False):
        more = f"{message}; also where nodes are empty, {left} find no place"
        return error(_CHECK, about, more, why=f"{why}, unless nodes are added", fix=_AMOUNTS)
    return warning(_CHECK, about, f"{message}, beside the pods that run now", why=why, fix="kubectl describe nodes")


def _left(moment: Sequence[PodSet], nodes: Sequence[_Node], facts: Facts, *, free: bool) -> int:
    """Return how many pods find no place, on nodes as they are or as if they were empty."""
    room = [{**(node.free if free else node.whole)} for node in nodes]
    usable = [(each, _usable(each, nodes, facts, beside=free)) for each in moment]
    left = 0
    for each, places in sorted(usable, key=lambda pair: len(pair[1])):
        asked, count = _asked(each.pod), each.count
        for place in sorted(places, key=lambda place: _fitting(asked, room[place])):
            here = min(count, _fitting(asked, room[place]), 1 if _is_apart(each) else count)
            room[place] = requests.total([room[place], requests.times(asked, -here)])
            count -= here
        left += count
    return left


def _usable(each: PodSet, nodes: Sequence[_Node], facts: Facts, *, beside: bool) -> list[int]:
    """Return the places in ``nodes`` of those that a set may run on; ``beside`` the pods that are there."""
    spec = _spec(each)
    terms = [term for term in _apart(spec) if term.get("topologyKey") == _HOST] if beside else []
    return [
        place
        for place, node in enumerate(nodes)
        if _is_ready(node.item)
        and selection.admits(spec, node.item)
        and not selection.intolerable(spec, node.item)
        and not any(
            namespace == facts.namespace and selection.selects(term.get("labelSelector"), labels)
            for term in terms
            for namespace, labels in node.neighbors
        )
    ]


def _fitting(asked: Amounts, room: Amounts) -> int:
    """Return how many of a pod there is room for."""
    return max(0, min((room.get(name, 0) // amount for name, amount in asked.items() if amount > 0), default=0))


def _is_apart(each: PodSet) -> bool:
    """Say whether no two pods of a set may share a node."""
    labels = labels_of(mapping(each.pod.template))
    terms = (term for term in _apart(_spec(each)) if term.get("topologyKey") == _HOST)
    return any(selection.selects(term.get("labelSelector"), labels) for term in terms)


def _apart(spec: Object) -> list[Object]:
    return mappings(selection.required(spec, "podAntiAffinity"))


def _not_computed(each: PodSet) -> Iterator[Finding]:
    """Yield what the search for room leaves out."""
    spec = _spec(each)
    spread = mappings(spec.get("topologySpreadConstraints"))
    left_out = {
        "which pods it has to run beside": mappings(selection.required(spec, "podAffinity")),
        "over what it has to be spread": [one for one in spread if one.get("whenUnsatisfiable") != "ScheduleAnyway"],
        "from which pods it has to be apart": [term for term in _apart(spec) if term.get("topologyKey") != _HOST],
    }
    for what, rules in left_out.items():
        if rules:
            topology = ", ".join(sorted({text(rule.get("topologyKey")) for rule in rules}))
            yield unknown(_CHECK, each.who, f"{what} ({topology}) is not part of the search for room")


def _spec(each: PodSet) -> Object:
    """Return the fields of a pod that say where it may run; those of an Argo template are as its Workflow says."""
    names = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
    return {name: each.pod.get(name) for name in names}


def _labels(spec: Object) -> str:
    """Return in words which labels a pod asks for."""
    wanted = [f"{key}={value}" for key, value in mapping(spec.get("nodeSelector")).items()]
    terms = mappings(mapping(selection.required(spec, "nodeAffinity")).get("nodeSelectorTerms"))
    rules = (rule for term in terms for rule in mappings(term.get("matchExpressions")))
    for rule in rules:
        values = rule.get("values")
        shown_values = f" ({', '.join(map(str, values))})" if isinstance(values, list) else ""
        wanted.append(f"{rule.get('key')} {rule.get('operator')}{shown_values}")
    return ", ".join(wanted) or "none"


def _is_ready(node: Object) -> bool:
    return trouble.is_ready(node) and mapping(node.get("spec")).get("unschedulable") is not True
