"""Whether there are nodes for the pods: with the labels, taints and devices they ask for, and room for all at once.

Room is what a node can give, without what pods there ask for. Pods are placed one set after the other, those with the
fewest nodes first, each on the nodes that it fits worst: where this finds no place, a scheduler nearly never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.kubernetes import pods, requests, selection
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text
from packyard.core.kubernetes.requests import Amounts, shown
from packyard.running.doctor import obstacles, storage, wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.doctor.obstacles import Wanted
from packyard.running.doctor.wanted import PodSet

#: The family of these findings.
CHECK = "nodes"
_HOST = "kubernetes.io/hostname"
#: Labels that pods get from their Job.
_OF_JOBS = ("job-name", "batch.kubernetes.io/job-name")
_ONE = 10**9  # of what is counted, in the unit of quantities
_AMOUNTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,ALLOCATABLE:.status.allocatable"
#: What to look at for each obstacle, that which is the easiest to change first.
_FIXES = {
    "taint": "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
    "cordon": "kubectl get nodes",
    "ready": "kubectl get nodes",
    "amount": _AMOUNTS,
    "device": _AMOUNTS,
    "volume": "kubectl get persistentvolumes -o wide",
    "label": "kubectl get nodes --show-labels",
}


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
    return place(wanted.find(objects), objects, facts)


def place(sets: Sequence[PodSet], objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Do what `fit` does for the pods of the objects as the server would have them."""
    if not sets:
        return
    nodes = _nodes(facts, wanted.there(objects, facts))
    lacking = [(pod_set, _lack(pod_set, nodes, facts)) for pod_set in sets]
    for pod_set, lack in lacking:
        yield lack or passed(CHECK, pod_set.who)
        if gates := [text(gate.get("name")) for gate in mappings(pod_set.pod.get("schedulingGates"))]:
            message = f"its pods wait until somebody lifts their gate {', '.join(gates)}"
            yield warning(CHECK, pod_set.who, message, why="no scheduler looks at them before")
        yield from _not_computed(pod_set, sets, nodes, facts)
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
    metadata = (mapping(each.get("metadata")) for each in there)
    return _Node(item, whole, free, [(text(each.get("namespace")), mapping(each.get("labels"))) for each in metadata])


def _asked(pod: pods.Pod[Object]) -> Amounts:
    """Return what a pod takes of a node, of which it also is one of the pods."""
    return {**{name: amount for name, amount in requests.of(pod).requests.items() if amount}, "pods": _ONE}


def _lack(pod_set: PodSet, nodes: Sequence[_Node], facts: Facts) -> Finding | None:
    """Return why no node, however empty, takes a pod of a set."""
    name = text(pod_set.pod.get("nodeName"))
    if name and not any(name_of(node.item) == name for node in nodes):
        why = "no kubelet starts its pods, which are deleted again"
        return error(CHECK, pod_set.who, f"its node {name} is not there", why=why, fix="kubectl get nodes")
    pod = _wanted(pod_set, facts)
    by_node = [(obstacles.find(pod, node.item, node.whole), node) for node in nodes]
    those = [(obstacle, node) for obstacle, node in by_node if obstacle]
    if len(those) < len(nodes):
        return None
    message = f"none of {len(nodes)} nodes takes its pods" if nodes else "there is no node"
    if those:
        message += f": {obstacles.describe(pod, [(obstacle, node.whole) for obstacle, node in those])}"
    kinds = {obstacle.kind for obstacle, _ in those}
    why = "its pods stay Pending" + ("; a device plugin offers devices" if kinds == {"device"} else "")
    fix = next((_FIXES[kind] for kind in _FIXES if kind in kinds), "kubectl get nodes")
    lack = error(CHECK, pod_set.who, message, why=why, fix=fix)
    tainted = [node.item for obstacle, node in those if obstacle.kind == "taint"]
    keys = filter(None, (obstacles.taint_keys(pod, item) for item in tainted))
    return replace(lack, taints=tuple(next(keys, ())))


def _wanted(pod_set: PodSet, facts: Facts) -> Wanted:
    return Wanted(placing(pod_set), _asked(pod_set.pod), storage.volumes_of(pod_set.pod, facts))


def _room(moment: Sequence[PodSet], nodes: Sequence[_Node], facts: Facts) -> Finding:
    about = ", ".join(dict.fromkeys(each.who for each in moment))
    count = sum(each.count for each in moment)
    if not _left(moment, nodes, facts, free=True):
        return passed(CHECK, f"room for {count} pod{'s' * (count > 1)} at once")
    needs = requests.total(requests.times(_asked(each.pod), each.count) for each in moment)
    parts = [shown(name, amount) for name, amount in sorted(needs.items()) if name != "pods"]
    message = f"there is no room for all {count} pods at once: {', '.join(parts)} in all"
    why = "those that find none stay Pending, and others wait for them and hold what they have"
    if left := _left(moment, nodes, facts, free=False):
        more = f"{message}; also where nodes are empty, {left} find no place"
        return error(CHECK, about, more, why=f"{why}, unless nodes are added", fix=_AMOUNTS)
    return warning(CHECK, about, f"{message}, beside the pods that run now", why=why, fix="kubectl describe nodes")


def _left(moment: Sequence[PodSet], nodes: Sequence[_Node], facts: Facts, *, free: bool) -> int:
    """Return how many pods find no place, on nodes as they are or as if they were empty."""
    room = [{**(node.free if free else node.whole)} for node in nodes]
    usable = [(pod_set, _usable(pod_set, nodes, facts, beside=free)) for pod_set in moment]
    left = 0
    for pod_set, places in sorted(usable, key=lambda pair: len(pair[1])):
        needs, count = _asked(pod_set.pod), pod_set.count
        for place in sorted(places, key=lambda place: _fitting(needs, room[place])):
            here = min(count, _fitting(needs, room[place]), 1 if _is_apart(pod_set) else count)
            room[place] = requests.total([room[place], requests.times(needs, -here)])
            count -= here
        left += count
    return left


def _usable(pod_set: PodSet, nodes: Sequence[_Node], facts: Facts, *, beside: bool) -> list[int]:
    """Return the places in ``nodes`` of those that a set may run on; ``beside`` the pods that are there."""
    spec = placing(pod_set)
    pod = _wanted(pod_set, facts)
    terms = [term for term in _apart(spec) if term.get("topologyKey") == _HOST] if beside else []
    return [
        place
        for place, node in enumerate(nodes)
        if not obstacles.find(pod, node.item, node.whole)
        and not any(
            namespace == facts.namespace and selection.selects(term.get("labelSelector"), labels)
            for term in terms
            for namespace, labels in node.neighbors
        )
    ]


def _fitting(needs: Amounts, room: Amounts) -> int:
    """Return how many of a pod there is room for."""
    return max(0, min((room.get(name, 0) // amount for name, amount in needs.items() if amount > 0), default=0))


def _is_apart(pod_set: PodSet) -> bool:
    """Say whether no two pods of a set may share a node: by a rule, or as each wants the same port of its node."""
    ports = [port for container in pod_set.pod.containers for port in mappings(container.get("ports"))]
    if any(port.get("hostPort") for port in ports) or (ports and pod_set.pod.get("hostNetwork") is True):
        return True
    labels = _labels(pod_set)
    terms = (term for term in _apart(placing(pod_set)) if term.get("topologyKey") == _HOST)
    return any(selection.selects(term.get("labelSelector"), labels) for term in terms)


def _apart(spec: Object) -> list[Object]:
    return mappings(selection.required(spec, "podAntiAffinity"))


def _not_computed(pod_set: PodSet, sets: Sequence[PodSet], nodes: Sequence[_Node], facts: Facts) -> Iterator[Finding]:
    """Yield what the search for room leaves out: rules that nothing can meet, and that they are not computed."""
    spec = placing(pod_set)
    spread = mappings(spec.get("topologySpreadConstraints"))
    beside = mappings(selection.required(spec, "podAffinity"))
    over = [one for one in spread if one.get("whenUnsatisfiable") != "ScheduleAnyway"]
    yield from _unmet(pod_set, over, beside, sets, nodes, facts)
    left_out = {
        "which pods it has to run beside": beside,
        "over what it has to be spread": over,
        "from which pods it has to be apart": [term for term in _apart(spec) if term.get("topologyKey") != _HOST],
    }
    for what, rules in left_out.items():
        if rules:
            topology = ", ".join(sorted({text(rule.get("topologyKey")) for rule in rules}))
            yield unknown(CHECK, pod_set.who, f"{what} ({topology}) is not part of the search for room")


def _unmet(
    pod_set: PodSet,
    over: Sequence[Object],
    beside: Sequence[Object],
    sets: Sequence[PodSet],
    nodes: Sequence[_Node],
    facts: Facts,
) -> Iterator[Finding]:
    """Yield rules that no node, or no pod, meets: labels to be spread over, pods to run beside."""
    for key in sorted({text(rule.get("topologyKey")) for rule in over} if nodes else ()):
        if not any(key in labels_of(node.item) for node in nodes):
            message = f"no node has the label {key}, over which its pods have to be spread"
            yield error(CHECK, pod_set.who, message, why="its pods stay Pending", fix=_FIXES["label"])
    for rule in over:
        yield from _too_few_domains(pod_set, rule, nodes)
    there = [labels for node in nodes for namespace, labels in node.neighbors if namespace == facts.namespace]
    label_sets = [*there, *map(_labels, sets)]
    for term in beside:
        is_elsewhere = bool(term.get("namespaces") or "namespaceSelector" in term)
        if not is_elsewhere and not any(selection.selects(term.get("labelSelector"), labels) for labels in label_sets):
            message = "its pods have to run beside others that are not there, by their podAffinity"
            fix = f"{facts.inside} get pods --show-labels"
            yield warning(CHECK, pod_set.who, message, why="its pods stay Pending until these are there", fix=fix)


def _too_few_domains(pod_set: PodSet, rule: Object, nodes: Sequence[_Node]) -> Iterator[Finding]:
    """Yield that pods are to be spread over more values of a label than there are: then each takes only a few."""
    key, least, skew = text(rule.get("topologyKey")), rule.get("minDomains"), rule.get("maxSkew")
    usable = [labels_of(node.item) for node in nodes if selection.admits(placing(pod_set), node.item)]
    count = len({text(labels.get(key)) for labels in usable} - {""})
    if not (isinstance(least, int) and isinstance(skew, int) and 0 < count < least and pod_set.count > skew * count):
        return
    if selection.selects(rule.get("labelSelector"), _labels(pod_set)):
        message = f"its pods have to be spread over {least} values of the label {key}, and its nodes have {count}"
        why = f"no more than {skew * count} of its {pod_set.count} pods find a place, and the others stay Pending"
        yield error(CHECK, pod_set.who, message, why=why, fix=_FIXES["label"])


def _labels(pod_set: PodSet) -> Mapping[str, object]:
    """Return the labels of the pods of a set, with those that they get from their Job."""
    kind, _, name = pod_set.who.partition(" ")
    return {**labels_of(mapping(pod_set.pod.template)), **(dict.fromkeys(_OF_JOBS, name) if kind == "Job" else {})}


def placing(pod_set: PodSet) -> Object:
    """Return the fields of a pod that say where it may run; those of an Argo template are as its Workflow says."""
    names = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
    return {name: pod_set.pod.get(name) for name in names}
