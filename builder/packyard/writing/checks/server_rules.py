"""What an API server refuses although schemas admit it: values of one field that do not go with those of another.

What one field alone, or beside a fixed value of another, does not take is a keyword of the schemas. A test puts an
object of each row to a real API server, which refuses it, and the same object without the fault. LeaderWorkerSets and
queues of Kueue are refused by their webhooks.
"""

from __future__ import annotations

import ipaddress
import math
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain

from packyard.core.errors import suggest
from packyard.core.kubernetes import quantity
from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, KUEUE, LWS, NETWORKING, POLICY, Kind, kind_of
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.values import is_null
from packyard.writing.checks import data_rules, pod_rules, schedules, variables
from packyard.writing.checks.faults import Fault, at, given, one, twice
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.pod_rules import absolute

_PATH_TYPES = ("Exact", "Prefix")
#: Amounts of a LimitRange of which the first is at most the second.
_LIMITS = (("min", "max"), ("default", "max"), ("defaultRequest", "default"), ("min", "defaultRequest"))
#: How a rule of a podFailurePolicy says which failures it means, and a peer of a NetworkPolicy whom.
_FAILURES = ("onExitCodes", "onPodConditions")
_PEERS = ("podSelector", "namespaceSelector", "ipBlock")
_DIRECTIONS = {"ingress": "from", "egress": "to"}
#: The fields of a PersistentVolume that say what it is, of those that say more of it.
_OF_VOLUMES = (
    *("accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy"),
    *("storageClassName", "volumeMode", "volumeAttributesClassName"),
)
#: How many of something an autoscaler wants, by the kind of the metric; several are told apart by the type.
_WANTED = {
    "resource": ("averageUtilization", "averageValue"),
    "containerResource": ("averageUtilization", "averageValue"),
    "pods": ("averageValue",),
    "object": ("value", "averageValue"),
    "external": ("value", "averageValue"),
}
_SCALING = {"selectPolicy": ("Max", "Min", "Disabled"), "type": ("Pods", "Percent")}


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what an API server refuses, for a place with what is wrong there and what is right."""
    for root in parsed.fresh:
        rule = _OBJECTS.get(kind_of(root))
        spec = root.mapping("spec")
        faults = rule(spec) if rule and spec else data_rules.check(root)
        of_pods = (pod_rules.check(pod, kind_of(root)) for pod in parsed.pods_of(root))
        for place, message, hint in chain(faults, *of_pods):
            yield breach("server-refuses", place, f"{message}: the API server refuses it", hint)


def _ordered(holder: MappingNode, less: str, more: str, *, is_equal_right: bool = True) -> Iterator[Fault]:
    """Find a number that is more than another one, or as much."""
    least, most = holder.text(less), holder.text(more)
    if least.isdecimal() and most.isdecimal() and int(least) > int(most) - (not is_equal_right):
        yield from at(holder, less, f"{less} is {least}, {more} {most}", f"raise {more}")


def _autoscaler(spec: MappingNode) -> Iterator[Fault]:
    yield from _ordered(spec, "minReplicas", "maxReplicas")
    for metric in mappings(spec.get("metrics")):
        for kind, fields in _WANTED.items():
            target = metric.mapping(kind, "target")
            if target is not None:
                yield from one(target, fields, f"the target of a {kind} metric")
                for amount in filter(None, map(target.scalar, ("value", "averageValue"))):
                    wanted = quantity.parse(amount.value)
                    if wanted is not None and wanted <= 0:
                        yield amount, f"the autoscaler wants {amount.value} of something", "more than 0"
    for direction in ("scaleUp", "scaleDown"):
        rules = spec.mapping("behavior", direction)
        for holder in (rules, *mappings(rules.get("policies"))) if rules else ():
            for field, words in _SCALING.items():
                word = holder.scalar(field)
                if word and _is_set(word) and word.value not in words:
                    yield word, f"{field} is {word.value!r}", suggest(word.value, words) or " or ".join(words)


def _limit_range(spec: MappingNode) -> Iterator[Fault]:
    for limit in mappings(spec.get("limits")):
        for less, more in _LIMITS:
            least, most = limit.mapping(less), limit.mapping(more)
            if least is None or most is None:
                continue
            for entry in least.entries:
                here, there = least.text(entry.name), most.text(entry.name)
                if (quantity.parse(here) or 0) > (quantity.parse(there) or math.inf):
                    yield from at(limit, less, f"{less} of {entry.name} is {here}, {more} {there}", f"raise {more}")


def _budget(spec: MappingNode) -> Iterator[Fault]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield from at(spec, "maxUnavailable", "minAvailable and maxUnavailable exclude each other", "remove one")


def _daemon_set(spec: MappingNode) -> Iterator[Fault]:
    rolling = spec.mapping("updateStrategy", "rollingUpdate")
    if rolling and rolling.text("maxUnavailable") in ("0", "0%") and rolling.text("maxSurge") in ("", "0", "0%"):
        yield from at(rolling, "maxUnavailable", "maxUnavailable is 0, and so is maxSurge", "set one of them to 1")


def _deployment(spec: MappingNode) -> Iterator[Fault]:
    yield from _ordered(spec, "minReadySeconds", "progressDeadlineSeconds", is_equal_right=False)
    type_, rolling = spec.scalar("strategy", "type"), spec.mapping("strategy", "rollingUpdate")
    if rolling and type_ and type_.value == "Recreate":
        yield rolling, "a Deployment that is recreated rolls nothing", "remove rollingUpdate"
    elif rolling:
        yield from _still(rolling)


def _still(rolling: MappingNode) -> Iterator[Fault]:
    """Find a rolling update that may neither add nor take away a pod."""
    if all(rolling.text(field) in ("0", "0%") for field in ("maxSurge", "maxUnavailable")):
        yield from at(rolling, "maxSurge", "maxSurge and maxUnavailable are both 0", "set one of them to 1")


def _groups(spec: MappingNode) -> Iterator[Fault]:
    size = spec.scalar("leaderWorkerTemplate", "size")
    if size and size.value == "0":
        yield size, "a group has 0 pods", "its leader is one of them: size: 1"
    rolling = spec.mapping("rolloutStrategy", "rollingUpdateConfiguration")
    yield from _still(rolling) if rolling else ()


def _service(spec: MappingNode) -> Iterator[Fault]:
    ports = mappings(spec.get("ports"))
    yield from twice(ports, "port", "name")
    yield from twice(ports, "port", "port", "protocol")
    for port in ports if len(ports) > 1 else ():
        if port.get("name") is None:
            yield port, "each port of a Service with several has a name", "name it"
    name = spec.scalar("externalName")
    if name and _is_set(name) and "/" in name.value:
        yield name, f"{name.value!r} is no name in DNS", name.value.split("//")[-1].split("/")[0]
    if spec.text("type") == "ExternalName" and not spec.text("externalName"):
        yield from at(spec, "type", "a Service of type ExternalName has an externalName", "add externalName")


def _ingress(spec: MappingNode) -> Iterator[Fault]:
    for rule in mappings(spec.get("rules")):
        for path in mappings(rule.find("http", "paths")):
            backend = path.mapping("backend") or path
            if backend.get("service") is not None and backend.get("resource") is not None:
                yield backend, "a backend is a service or a resource", "remove one"
            port = backend.mapping("service", "port")
            yield from one(port, ("name", "number"), "the port of a backend") if port else ()
            if path.text("pathType") in _PATH_TYPES and not path.text("path").startswith("/"):
                yield from at(path, "pathType", "a path of this pathType begins with /", f"path: /{path.text('path')}")


def _network_policy(spec: MappingNode) -> Iterator[Fault]:
    rules = [(rule, peers) for direction, peers in _DIRECTIONS.items() for rule in mappings(spec.get(direction))]
    for rule, _ in rules:
        yield from _ports(rule)
    for peer in (peer for rule, peers in rules for peer in mappings(rule.get(peers))):
        named = given(peer, _PEERS)
        if not named:
            yield peer, "a peer that names nobody is none", "podSelector: {} for all pods of the namespace"
        elif "ipBlock" in named and len(named) > 1:
            yield peer, f"ipBlock and {named[0]} exclude each other", "make two peers of them"
        block = peer.mapping("ipBlock")
        yield from _block(block) if block else ()


def _ports(rule: MappingNode) -> Iterator[Fault]:
    for port in mappings(rule.get("ports")):
        if port.get("endPort") is not None and not port.text("port").isdecimal():
            yield from at(port, "endPort", "endPort is the end of a range, which begins with a number", "port: NUMBER")
        yield from _ordered(port, "port", "endPort")


def _block(block: MappingNode) -> Iterator[Fault]:
    """Find a block of addresses that is none, or takes out what is not in it."""
    cidr = block.scalar("cidr")
    if cidr is None or not _is_set(cidr):
        return
    try:
        network = ipaddress.ip_network(cidr.value, strict=False)
    except ValueError:
        yield cidr, f"{cidr.value!r} is no block of addresses", "10.0.0.0/8, for example"
        return
    for node in scalars(block.get("except")):
        with suppress(ValueError):
            inner = ipaddress.ip_network(node.value, strict=False)
            # Of one version, which mypy does not see.
            is_within = inner.version == network.version and inner.subnet_of(network)  # type: ignore[arg-type]
            if inner == network or not is_within:
                yield node, f"{node.value} is not in {cidr.value}", "a part of the block"


def _job(spec: MappingNode) -> Iterator[Fault]:
    is_indexed = spec.text("completionMode") == "Indexed"
    if given(spec, ("successPolicy",)) and not is_indexed:
        yield from at(spec, "successPolicy", "only an Indexed Job succeeds by a policy", "completionMode: Indexed")
    if given(spec, ("podFailurePolicy",)) and spec.text("podReplacementPolicy", "Failed") != "Failed":
        message = "with a podFailurePolicy a pod is replaced when it has failed"
        yield from at(spec, "podReplacementPolicy", message, "podReplacementPolicy: Failed, or remove it")
    if spec.get("backoffLimitPerIndex") is not None and not is_indexed:
        yield from at(spec, "backoffLimitPerIndex", "only an Indexed Job has indexes", "completionMode: Indexed")
    yield from _ordered(spec, "maxFailedIndexes", "completions")
    if entries(spec.find("selector", "matchLabels")) and spec.text("manualSelector") != "true":
        yield from at(spec, "selector", "a Job gets its selector by itself", "remove it")
    for rule in mappings(spec.find("podFailurePolicy", "rules")):
        action = rule.scalar("action")
        if action and action.value == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield action, "FailIndex fails an index of a Job with a backoffLimitPerIndex", "add backoffLimitPerIndex"
        if len(given(rule, _FAILURES)) != 1:
            yield rule, f"a rule of a podFailurePolicy has either {' or '.join(_FAILURES)}", "give it one of them"


def _cluster_queue(spec: MappingNode) -> Iterator[Fault]:
    """Find a flavor with other resources than its group has, which the webhook of Kueue refuses."""
    for group in mappings(spec.get("resourceGroups")):
        wanted = [each.value for each in scalars(group.get("coveredResources"))]
        for flavor in mappings(group.get("flavors")):
            there = [each.text("name") for each in mappings(flavor.get("resources"))]
            if wanted and there and there != wanted:
                message = f"flavor {flavor.text('name')!r} has {', '.join(there)}, and its group {', '.join(wanted)}"
                yield flavor.get("resources") or flavor, message, "the same resources, in the same order"


def _volume(spec: MappingNode) -> Iterator[Fault]:
    yield from absolute(spec)
    sources = [entry for entry in spec.entries if entry.name not in _OF_VOLUMES and not is_null(entry.value)]
    if len(sources) > 1:
        yield sources[1], f"a volume is either {sources[0].name} or {sources[1].name}", "remove one"
    elif not sources:
        yield spec, "the volume does not say what it is", "nfs, csi, hostPath or local, for example"
    elif sources[0].name == "local" and spec.get("nodeAffinity") is None:
        yield sources[0], "a local volume says on which node it is", "add nodeAffinity"


def _claim(spec: MappingNode) -> Iterator[Fault]:
    size = spec.scalar("resources", "requests", "storage")
    if size and _is_set(size) and quantity.parse(size.value) == 0:
        yield size, "the claim asks for no storage", "10Gi, for example"


def _device_claim(spec: MappingNode) -> Iterator[Fault]:
    """Find what is said of a request of devices that the claim does not have."""
    devices = spec.mapping("spec", "devices") or spec.mapping("devices")
    if devices is None:
        return
    requests = mappings(devices.get("requests"))
    yield from twice(requests, "request", "name")
    names = [each.text("name") for each in requests]
    for request in requests:
        exactly = request.mapping("exactly")
        if exactly and exactly.text("allocationMode") == "All" and exactly.get("count") is not None:
            yield from at(exactly, "count", "who gets all devices says no count", "remove it")
    for field in ("constraints", "config"):
        for each in mappings(devices.get(field)):
            for node in scalars(each.get("requests")):
                if _is_set(node) and node.value.partition("/")[0] not in names:
                    yield node, f"the claim has no request {node.value!r}", suggest(node.value, names)


def _cron_job(spec: MappingNode) -> Iterator[Fault]:
    schedule, zone = spec.scalar("schedule"), spec.scalar("timeZone")
    if schedule and _is_set(schedule) and (fault := schedules.fault(schedule.value)):
        yield schedule, fault, "minute hour day-of-month month day-of-week, as in 0 3 * * 1-5"
    if zone and _is_set(zone):
        zones = zoneinfo.available_timezones()  # none where the system has no table of them
        if zones and zone.value not in zones:
            hint = suggest(zone.value, zones) or "Etc/UTC, or Europe/Berlin"
            yield zone, f"there is no time zone {zone.value!r}", hint
    template = spec.mapping("jobTemplate", "spec")
    yield from _job(template) if template else ()


def _is_set(node: Scalar) -> bool:
    """Say whether a field has a text that no template and no setter fills in later."""
    return bool(node.value) and not variables.is_filled_in(node.value)


_OBJECTS: Mapping[Kind, Callable[[MappingNode], Iterator[Fault]]] = {
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    (POLICY, "PodDisruptionBudget"): _budget,
    (APPS, "Deployment"): _deployment,
    (CORE, "Service"): _service,
    (CORE, "PersistentVolume"): _volume,
    (CORE, "PersistentVolumeClaim"): _claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): _device_claim,
    ("resource.k8s.io", "ResourceClaim"): _device_claim,
    (NETWORKING, "Ingress"): _ingress,
    (NETWORKING, "NetworkPolicy"): _network_policy,
    (CORE, "LimitRange"): _limit_range,
    (KUEUE, "ClusterQueue"): _cluster_queue,
    (APPS, "DaemonSet"): _daemon_set,
    (LWS, "LeaderWorkerSet"): _groups,
    (BATCH, "Job"): _job,
    (BATCH, "CronJob"): _cron_job,
}
