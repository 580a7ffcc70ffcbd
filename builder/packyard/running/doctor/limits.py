"""Whether the quotas and limits of the namespace admit all that a run has at once.

A quota counts what is there already, which is why nothing is said of quotas where the run is there. It is enforced
where pods are created, so that of ten workers three may come, and only events say why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from packyard.core.kubernetes import claims, requests, selection
from packyard.core.kubernetes.claims import CLAIM
from packyard.core.kubernetes.groups import is_cluster_scoped, resource_of
from packyard.core.kubernetes.kinds import CORE, group_of
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text, type_of
from packyard.core.kubernetes.requests import Amounts, Asked, amounts, number, shown
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown
from packyard.running.doctor.wanted import PodSet

_CHECK = "limits"
_SERVICE = (CORE, "Service")
_ONE = 10**9  # of what is counted, in the unit of quantities
_WHY, _AT_ONCE = "pods beyond it are refused, which only events say", "the server refuses what is beyond it"
_CLAIMED = "requests.storage"
_OF_PODS = ("pods", "count/pods", "requests", "limits", "cpu", "memory", "ephemeral-storage")
#: Resources that a quota counts under their own name as well; of the said ones every pod must then say its amount.
_COMPUTED, _SAID = ("cpu", "memory", "ephemeral-storage"), ("cpu", "memory")
_OLD_NAMES = ("configmaps", "persistentvolumeclaims", "pods", "resourcequotas", "secrets", "services")


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for quotas and limits."""
    return Questions(inside=frozenset({"ResourceQuota", "LimitRange"} if objects else ()))


def quotas(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find room in each quota for all pods together, and for the objects."""
    moments = wanted.moments(wanted.find(objects))
    default = _default(facts.all("LimitRange"))
    for quota in [] if wanted.there(objects, facts) else facts.all("ResourceQuota"):
        about = f"ResourceQuota {name_of(quota)}"
        spec, fix = mapping(quota.get("spec")), f"{facts.inside} describe resourcequotas"
        rules = _scopes(spec)
        if unclear := [name for rule in rules if (name := text(rule.get("scopeName"))) not in _SCOPES]:
            yield unknown(
                _CHECK, about, f"counts only what its scope {unclear[0]} has, which was not computed", fix=fix
            )
            continue
        within = [[each for each in moment if _is_within(each, rules, default)] for moment in moments]
        needs = requests.most([*([] if rules else [_counts(objects)]), *(_together(each, default) for each in within)])
        hard, used = amounts(spec.get("hard")), amounts(mapping(quota.get("status")).get("used"))
        full = [name for name in sorted(hard) if needs.get(name) and used.get(name, 0) + needs[name] > hard[name]]
        over = [_over(name, needs, used, hard) for name in full]
        if over:
            of_pods = any(name.partition(".")[0] in _OF_PODS and name != _CLAIMED for name in full)
            yield error(_CHECK, about, f"has no room: {'; '.join(over)}", why=_WHY if of_pods else _AT_ONCE, fix=fix)
        unsaid = sorted(_unsaid(within, default, hard))
        if unsaid:
            message = f"has every pod say its {', '.join(unsaid)}, and not all do"
            yield error(_CHECK, about, message, why="these pods are refused, which only events say", fix=fix)
        if not over and not unsaid:
            yield passed(_CHECK, about)


def _scopes(quota: Object) -> list[Object]:
    """Return the rules by which a quota chooses the pods that it counts."""
    named = quota.get("scopes")
    whole = [{"scopeName": each, "operator": "Exists"} for each in named] if isinstance(named, list) else []
    return [*whole, *mappings(mapping(quota.get("scopeSelector")).get("matchExpressions"))]


def _is_within(pod_set: PodSet, rules: Sequence[Object], default: Asked) -> bool:
    return all(_SCOPES[text(rule.get("scopeName"))](pod_set, rule, default) for rule in rules)


def _is_ending(pod_set: PodSet, _: Object, __: Asked) -> bool:
    return pod_set.pod.get("activeDeadlineSeconds") is not None


def _says_nothing(pod_set: PodSet, _: Object, default: Asked) -> bool:
    """Say whether neither the pod nor a container asks for anything, or has a limit."""
    containers = (requests.of_container(container, default) for container in pod_set.pod.containers)
    asked = (requests.of_pod_itself(pod_set.pod), *containers)
    return not any(set(_SAID) & {*one.requests, *one.limits} for one in asked)


def _is_of_class(pod_set: PodSet, rule: Object, _: Asked) -> bool:
    name = pod_set.pod.get("priorityClassName")
    return selection.holds({**rule, "key": "name"}, {"name": name} if name else {})


#: Which pods a scope has; of others nothing is computed.
_SCOPES: Mapping[str, Callable[[PodSet, Object, Asked], bool]] = {
    "Terminating": _is_ending,
    "NotTerminating": lambda *each: not _is_ending(*each),
    "BestEffort": _says_nothing,
    "NotBestEffort": lambda *each: not _says_nothing(*each),
    "PriorityClass": _is_of_class,
}


def ranges(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find each container, pod and claim within the limits of the namespace."""
    limit_ranges, default = facts.all("LimitRange"), _default(facts.all("LimitRange"))
    fix = f"{facts.inside} describe limitranges"
    for item in limit_ranges:
        about = f"LimitRange {name_of(item)}"
        faults = [
            fault
            for limit in mappings(mapping(item.get("spec")).get("limits"))
            for who, asked in _limited(text(limit.get("type")), objects, default)
            for fault in _outside(who, asked, limit)
        ]
        if faults:
            why = "pods and claims outside of it are refused, which only events say of pods"
            yield error(_CHECK, about, "; ".join(dict.fromkeys(faults)), why=why, fix=fix)
        else:
            yield passed(_CHECK, about)


def _default(limit_ranges: Sequence[Object]) -> Asked:
    """Return what LimitRanges give to containers that say nothing."""
    limits = [each for item in limit_ranges for each in mappings(mapping(item.get("spec")).get("limits"))]
    of_containers = [each for each in limits if each.get("type") == "Container"]
    return Asked(
        requests.most(amounts(each.get("defaultRequest")) for each in of_containers),
        requests.most(amounts(each.get("default")) for each in of_containers),
    )


def _together(moment: Sequence[PodSet], default: Asked) -> Amounts:
    """Return what pods take at once, by the names that quotas have for it."""
    asked = [(requests.of(each.pod, default), each.count) for each in moment]
    requested = requests.total(requests.times(each.requests, count) for each, count in asked)
    most = requests.total(requests.times(each.limits, count) for each, count in asked)
    count = sum(count for _, count in asked) * _ONE
    return {
        **{f"requests.{name}": amount for name, amount in requested.items()},
        **{name: amount for name, amount in requested.items() if name in _COMPUTED},
        **{f"limits.{name}": amount for name, amount in most.items()},
        "pods": count,
        "count/pods": count,
    }


def _counts(objects: Sequence[Object]) -> Amounts:
    """Return how many objects of each kind there are, with the record of the run, and what claims ask for."""
    counts = {"count/configmaps": _ONE, "configmaps": _ONE}
    for item in objects:
        version, kind = type_of(item)
        if is_cluster_scoped(version, kind):
            continue
        resource, group = resource_of(kind), group_of(version)
        counted = [f"count/{resource}.{group}" if group else f"count/{resource}"]
        counted += [resource] if not group and resource in _OLD_NAMES else []
        own = _of_claim(item) if kind == CLAIM else _of_service(item) if (group, kind) == _SERVICE else {}
        counts = requests.total([counts, dict.fromkeys(counted, _ONE), own])
    return counts


def _of_claim(claim: Object) -> Amounts:
    """Return what quotas count of a claim, of its class as well."""
    storage = claims.requested(claim).get("storage", 0)
    storage_class = text(mapping(claim.get("spec")).get("storageClassName"))
    of_class = f"{storage_class}.storageclass.storage.k8s.io"
    counted = {f"{of_class}/{_CLAIMED}": storage, f"{of_class}/persistentvolumeclaims": _ONE}
    return {_CLAIMED: storage, **(counted if storage_class else {})}


def _of_service(service: Object) -> Amounts:
    """Return how many load balancers and ports of all nodes a Service takes."""
    spec = mapping(service.get("spec"))
    ports, is_balanced = mappings(spec.get("ports")), spec.get("type") == "LoadBalancer"
    if is_balanced and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = [port for port in ports if port.get("nodePort")]
    has_ports = is_balanced or spec.get("type") == "NodePort"
    return {"services.loadbalancers": _ONE * is_balanced, "services.nodeports": _ONE * len(ports) * has_ports}


def _over(name: str, needs: Amounts, used: Amounts, hard: Amounts) -> str:
    free, whole = number(name, max(0, hard[name] - used.get(name, 0))), number(name, hard[name])
    return f"{name}: {number(name, needs[name])} needed, {free} of {whole} free"


def _unsaid(moments: Sequence[Sequence[PodSet]], default: Asked, hard: Mapping[str, int]) -> set[str]:
    """Return the amounts that a quota makes every container say, and some container does not.

    Containers of a pod that says something itself need not, as in Kubernetes' own evaluator of quotas.
    """
    pods = [each.pod for moment in moments for each in moment if requests.of_pod_itself(each.pod) == Asked()]
    containers = [container for pod in pods for container in pod.containers]
    asked = [requests.of_container(each, default) for each in containers]
    lacks_request = {name for name in _SAID for each in asked if name not in each.requests}
    lacks_limit = {name for name in _SAID for each in asked if name not in each.limits}
    lacking = (
        {f"requests.{name}" for name in lacks_request} | lacks_request | {f"limits.{name}" for name in lacks_limit}
    )
    return lacking & hard.keys()


def _limited(kind: str, objects: Sequence[Object], default: Asked) -> Iterator[tuple[str, Asked]]:
    """Yield what a limit of a type is about, each with its name."""
    for item in claims.brought(objects) if kind == CLAIM else ():
        yield f"claim {name_of(item)}", Asked(claims.requested(item))
    for pod_set in wanted.find(objects):
        if kind == "Pod":
            yield f"a pod of {pod_set.who}", requests.of(pod_set.pod, default)
        elif kind == "Container":
            for container in pod_set.pod.containers:
                who = f"container {text(container.get('name')) or 'main'} of {pod_set.who}"
                yield who, requests.of_container(container, default)


def _outside(who: str, asked: Asked, limit: Object) -> Iterator[str]:
    """Yield what of an amount is beyond a limit."""
    for name, most in amounts(limit.get("max")).items():
        used = asked.limits.get(name, asked.requests.get(name, 0))
        if used > most:
            yield f"{who} has {shown(name, used)}, and {shown(name, most)} is the most"
    for name, least in amounts(limit.get("min")).items():
        if name in asked.requests and asked.requests[name] < least:
            yield f"{who} asks for {shown(name, asked.requests[name])}, and {shown(name, least)} is the least"
