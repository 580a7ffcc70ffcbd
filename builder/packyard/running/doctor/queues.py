"""Whether the queues of Kueue are there that objects are to wait in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from shlex import quote

from packyard.core.kubernetes import operators, requests, selection
from packyard.core.kubernetes.kinds import KUEUE
from packyard.core.kubernetes.lenient import Object, condition, labels_of, mapping, mappings, name_of, text, texts_under
from packyard.core.kubernetes.requests import Amounts, shown
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning
from packyard.running.runs.waiting import QUEUE

_CHECK = "queue"
_CLUSTER_QUEUES = f"clusterqueues.{KUEUE}"
_FLAVOR, _FLAVORS = "ResourceFlavor", f"resourceflavors.{KUEUE}"
#: The label of a priority in queues.
_PRIORITY, _PRIORITY_KIND = f"{KUEUE}/priority-class", "WorkloadPriorityClass"
_PRIORITIES = f"workloadpriorityclasses.{KUEUE}"
#: The annotation of a Job of which Kueue may start fewer pods.
_FEWER = f"{KUEUE}/job-min-parallelism"
#: Kinds of which it lets in all pods of a set at once.
_AT_ONCE = ("Job", "JobSet", "MPIJob", "PyTorchJob", "TFJob")
_KIND, _RESOURCE = "LocalQueue", f"localqueues.{KUEUE}"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for the queues that objects name, and whether there is Kueue."""
    names = texts_under(objects, QUEUE)
    priorities = {_PRIORITIES} if texts_under(objects, _PRIORITY) else set[str]()
    lists = frozenset({_CLUSTER_QUEUES, _FLAVORS, *priorities} if names else ())
    return Questions(custom=frozenset((_RESOURCE, name) for name in names), lists=lists, groups=bool(names))


def active(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the queues, and that they let something in, and the priorities in them."""
    if KUEUE in facts.groups and texts_under(objects, QUEUE):
        yield from _prioritized(objects, facts)
    for name in sorted(texts_under(objects, QUEUE)):
        about = f"{_KIND} {name}"
        list_all = f"{facts.inside} get {_RESOURCE}"
        if KUEUE not in facts.groups:
            kueue = operators.of(_RESOURCE)
            why = "the label of the queue has no effect: the run starts at once, beside all others"
            fix = kueue.fix if kueue else ""
            yield warning(_CHECK, about, "there is no Kueue in the cluster", why=why, fix=fix)
            continue
        queue = facts.find(_KIND, name)
        if queue is None:
            why = "the run stays suspended, and never starts"
            yield error(_CHECK, about, "is not there", why=why, fix=list_all)
            continue
        state = condition(queue, "Active")
        if state.get("status") == "False":
            why = "the run stays suspended until it is"
            fix = f"{facts.inside} describe {_RESOURCE} {quote(name)}"
            yield error(_CHECK, about, f"is not active: {text(state.get('message'))}", why=why, fix=fix)
        else:
            yield _room(about, queue, objects, facts)


def _room(about: str, queue: Object, objects: Sequence[Object], facts: Facts) -> Finding:
    """Return whether the quota behind a queue has room for all pods that run at once."""
    name = text(mapping(queue.get("spec")).get("clusterQueue"))
    item = facts.objects.get("ClusterQueue", ())
    spec = next((mapping(each.get("spec")) for each in item if name_of(each) == name), None)
    if spec is None or wanted.there(objects, facts):
        return passed(_CHECK, about)
    here = next((each for each in facts.objects.get("Namespace", ()) if name_of(each) == facts.namespace), None)
    if here and not selection.selects(spec.get("namespaceSelector"), labels_of(here)):
        message = f"lets in no workload of namespace {facts.namespace}, by the namespaceSelector of ClusterQueue {name}"
        fix = f"kubectl describe {_CLUSTER_QUEUES} {quote(name)}"
        return error(_CHECK, about, message, why="the run stays suspended", fix=fix)
    used = _sums(mapping(each.get("status")).get("flavorsReservation") for each in item if name_of(each) == name)
    groups = mappings(spec.get("resourceGroups"))
    whole = _sums(each.get("flavors") for each in groups)
    needs = requests.most(wanted.together(moment) for moment in wanted.moments(wanted.find(objects)))
    asked = {resource: amount for resource, amount in needs.items() if amount and (resource in whole or groups)}
    never = [resource for resource in asked if whole.get(resource, 0) < asked[resource]]
    full = [resource for resource in asked if whole.get(resource, 0) - used.get(resource, 0) < asked[resource]]
    fix = f"kubectl describe {_CLUSTER_QUEUES} {quote(name)}"
    if never and not (spec.get("cohort") or spec.get("cohortName")):
        parts = [f"{shown(each, asked[each])} asked for, {shown(each, whole.get(each, 0))} at most" for each in never]
        message = f"can never admit the run, by ClusterQueue {name}: {', '.join(parts)}"
        return error(_CHECK, about, message, why="the run stays suspended", fix=fix)
    if not (spec.get("cohort") or spec.get("cohortName")) and (large := _too_large(objects, groups)):
        message = f"can never admit the run, by ClusterQueue {name}: {large}"
        return error(_CHECK, about, message, why="the run stays suspended", fix=fix)
    if refusal := _refused(objects, groups, facts):
        message = f"can never admit the run, by ClusterQueue {name}: {refusal}"
        return error(_CHECK, about, message, why="the run stays suspended", fix=f"kubectl describe {_FLAVORS}")
    if full:
        free = {each: max(0, whole.get(each, 0) - used.get(each, 0)) for each in full}
        parts = [f"{shown(each, asked[each])} asked for, {shown(each, free[each])} free" for each in full]
        message = f"has no room now, by ClusterQueue {name}: {', '.join(parts)}"
        return warning(_CHECK, about, message, why="the run waits until others have ended", fix=fix)
    return passed(_CHECK, about)


def _too_large(objects: Sequence[Object], groups: Sequence[Object]) -> str:
    """Return which pods ask for more than any flavor has: Kueue takes one for all pods of a set.

    Of what Kueue lets in pod by pod, such as a Deployment, or may start with fewer, nothing is said.
    """
    whole_sets = [each for each in wanted.find(objects) if each.who.partition(" ")[0] in _AT_ONCE]
    if any(_FEWER in mapping(mapping(item.get("metadata")).get("annotations")) for item in objects):
        return ""
    for pod_set, group in product(whole_sets, groups):
        flavors = [_sums([[each]]) for each in mappings(group.get("flavors"))]
        most = requests.most(flavors)
        asked = {name: amount for name, amount in wanted.together([pod_set]).items() if amount and name in most}
        if asked and not any(all(each.get(name, 0) >= asked[name] for name in asked) for each in flavors):
            over = [name for name in asked if asked[name] > most[name]] or [*asked]
            parts = [f"{shown(name, asked[name])}, {shown(name, most[name])} at most" for name in over]
            return f"no flavor has what the pods of {pod_set.who} ask for: {'; '.join(parts)}"
    return ""


def _refused(objects: Sequence[Object], groups: Sequence[Object], facts: Facts) -> str:
    """Return which pods no flavor takes, by its taints or by labels that they ask for, as Kueue judges it."""
    there = {name_of(each): mapping(each.get("spec")) for each in facts.objects.get(_FLAVOR, ())}
    for pod_set, group in product(wanted.find(objects), groups):
        names = [text(each.get("name")) for each in mappings(group.get("flavors"))]
        covered = group.get("coveredResources")
        asked = {each for each, amount in wanted.together([pod_set]).items() if amount}
        if not isinstance(covered, list) or asked.isdisjoint(covered) or not all(name in there for name in names):
            continue
        keys = {key for name in names for key in mapping(there[name].get("nodeLabels"))}
        reasons = [_unfit(pod_set.pod.spec, there[name], keys) for name in names]
        if names and all(reasons):
            parts = [f"{name} {reason}" for name, reason in zip(names, reasons, strict=True)]
            return f"no flavor takes the pods of {pod_set.who}: {', '.join(parts)}"
    return ""


def _unfit(pod: Object, flavor: Object, keys: AbstractSet[str]) -> str:
    """Return why a flavor takes no such pods, empty where it does; ``keys`` are labels that flavors of its group have.

    Of other labels Kueue knows nothing.
    """
    tolerations = [*mappings(pod.get("tolerations")), *mappings(flavor.get("tolerations"))]
    if taints := selection.intolerable({"tolerations": tolerations}, {"spec": {"taints": flavor.get("nodeTaints")}}):
        return f"has the taint {', '.join(taints)}"
    has = mapping(flavor.get("nodeLabels"))
    named = mapping(pod.get("nodeSelector")).items()
    lacks = [f"{key}={value}" for key, value in named if key in keys and has.get(key) != value]
    return f"lacks the label {', '.join(lacks)}" if lacks else ""


def _sums(flavors: Iterable[object]) -> Amounts:
    """Return the amounts of all flavors: their quota, or what of it is reserved."""
    resources = [one for items in flavors for each in mappings(items) for one in mappings(each.get("resources"))]
    return requests.total(
        requests.amounts({text(each.get("name")): each.get("nominalQuota", each.get("total"))}) for each in resources
    )


def _prioritized(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the priorities that labels name."""
    for name in sorted(texts_under(objects, _PRIORITY)):
        why = "Kueue takes no notice of the run, which stays suspended"
        yield facts.look_for(_CHECK, _PRIORITY_KIND, name, why=why, fix=f"kubectl get {_PRIORITIES}")
