"""What an API server refuses although schemas admit it: values of one field that do not go with those of another.

What one field alone, or beside a fixed value of another, does not take is a keyword of the schemas. A test puts an
object of each row to a real API server, which refuses it, and the same object without the fault. LeaderWorkerSets and
queues of Kueue are refused by their webhooks.
"""

from __future__ import annotations

import math
import re
import zoneinfo
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from packyard.core.errors import suggest
from packyard.core.kubernetes import quantity
from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, KUEUE, LWS, NETWORKING, POLICY, Kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.core.yaml.values import is_null, to_value
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.port_numbers import ASKED, PROBES

_PATH_TYPES = ("Exact", "Prefix")
_HANDLERS = ("exec", *ASKED)
#: Amounts of a LimitRange of which the first is at most the second.
_LIMITS = (("min", "max"), ("default", "max"), ("defaultRequest", "default"), ("min", "defaultRequest"))
#: How a rule of a podFailurePolicy says which failures it means, and a peer of a NetworkPolicy whom.
_FAILURES = ("onExitCodes", "onPodConditions")
_PEERS = ("podSelector", "namespaceSelector", "ipBlock")
_DIRECTIONS = {"ingress": "from", "egress": "to"}

Fault = tuple[Node | Entry, str, str]


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what an API server refuses, for a place with what is wrong there and what is right."""
    for root in parsed.fresh:
        rule = _OBJECTS.get(kind_of(root))
        spec = root.mapping("spec")
        faults = rule(spec) if rule and spec else iter(())
        for place, message, hint in chain(faults, *map(_pod, parsed.pods_of(root))):
            yield breach("server-refuses", place, f"{message}: the API server refuses it", hint)


def _pod(pod: Pod[MappingNode]) -> Iterator[Fault]:
    for volume in pod.volumes:
        sources = [entry for entry in volume.entries if entry.name != "name" and not is_null(entry.value)]
        if len(sources) > 1:
            message = f"volume {volume.text('name')!r} has {' and '.join(entry.name for entry in sources)}"
            yield sources[1], message, f"put `{sources[0].name}: null` into the patch"
        yield from _nfs(volume)
    for container in pod.containers:
        for variable in mappings(container.get("env")):
            if variable.text("value") and variable.get("valueFrom") is not None:
                yield variable, f"variable {variable.text('name')} has both value and valueFrom", "remove one"
        yield from _twice(mappings(container.get("ports")), "port", "name")
        yield from _claims(container, pod)
        for name in PROBES:
            handlers = [entry for entry in entries(container.get(name)) if entry.name in _HANDLERS]
            if len(handlers) > 1:
                yield handlers[1], f"{name} asks in two ways", f"keep {handlers[0].name} or {handlers[1].name}"


def _twice(listed: list[MappingNode], what: str, *fields: str) -> Iterator[Fault]:
    """Find what has the same fields as another of a list."""
    earlier: set[tuple[str, ...]] = set()
    for item in listed:
        values = tuple(item.text(field) for field in fields)
        if values[0] and values in earlier:
            yield item, f"{what} {values[0]!r} occurs twice", "give each its own"
        earlier.add(values)


def _claims(container: MappingNode, pod: Pod[MappingNode]) -> Iterator[Fault]:
    """Find a claim of devices that the pod does not have."""
    claims = [each.text("name") for each in mappings(pod.get("resourceClaims"))]
    for claim in mappings(container.find("resources", "claims")):
        if claim.text("name") not in claims:
            yield claim, f"the pod has no resource claim {claim.text('name')!r}", "list it in resourceClaims"


def _nfs(holder: MappingNode) -> Iterator[Fault]:
    path = holder.scalar("nfs", "path")
    if path and _is_set(path) and not path.value.startswith("/"):
        yield path, f"the path of an NFS export is absolute, not {path.value!r}", f"/{path.value}"


def _ordered(holder: MappingNode, less: str, more: str, *, is_equal_right: bool = True) -> Iterator[Fault]:
    """Find a number that is more than another one, or as much."""
    least, most = holder.text(less), holder.text(more)
    if least.isdecimal() and most.isdecimal() and int(least) > int(most) - (not is_equal_right):
        yield from _at(holder, less, f"{less} is {least}, {more} {most}", f"raise {more}")


def _limit_range(spec: MappingNode) -> Iterator[Fault]:
    for limit in mappings(spec.get("limits")):
        for less, more in _LIMITS:
            least, most = limit.mapping(less), limit.mapping(more)
            if least is None or most is None:
                continue
            for entry in least.entries:
                here, there = least.text(entry.name), most.text(entry.name)
                if (quantity.parse(here) or 0) > (quantity.parse(there) or math.inf):
                    yield from _at(limit, less, f"{less} of {entry.name} is {here}, {more} {there}", f"raise {more}")


def _budget(spec: MappingNode) -> Iterator[Fault]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield from _at(spec, "maxUnavailable", "minAvailable and maxUnavailable exclude each other", "remove one")


def _daemon_set(spec: MappingNode) -> Iterator[Fault]:
    rolling = spec.mapping("updateStrategy", "rollingUpdate")
    if rolling and rolling.text("maxUnavailable") in ("0", "0%") and rolling.text("maxSurge") in ("", "0", "0%"):
        yield from _at(rolling, "maxUnavailable", "maxUnavailable is 0, and so is maxSurge", "set one of them to 1")


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
        yield from _at(rolling, "maxSurge", "maxSurge and maxUnavailable are both 0", "set one of them to 1")


def _groups(spec: MappingNode) -> Iterator[Fault]:
    size = spec.scalar("leaderWorkerTemplate", "size")
    if size and size.value == "0":
        yield size, "a group has 0 pods", "its leader is one of them: size: 1"
    rolling = spec.mapping("rolloutStrategy", "rollingUpdateConfiguration")
    yield from _still(rolling) if rolling else ()


def _service(spec: MappingNode) -> Iterator[Fault]:
    ports = mappings(spec.get("ports"))
    yield from _twice(ports, "port", "name")
    yield from _twice(ports, "port", "port", "protocol")
    for port in ports if len(ports) > 1 else ():
        if port.get("name") is None:
            yield port, "each port of a Service with several has a name", "name it"
    if spec.text("type") == "ExternalName" and not spec.text("externalName"):
        yield from _at(spec, "type", "a Service of type ExternalName has an externalName", "add externalName")


def _ingress(spec: MappingNode) -> Iterator[Fault]:
    for rule in mappings(spec.get("rules")):
        for path in mappings(rule.find("http", "paths")):
            if path.text("pathType") in _PATH_TYPES and not path.text("path").startswith("/"):
                yield from _at(path, "pathType", "a path of this pathType begins with /", f"path: /{path.text('path')}")


def _network_policy(spec: MappingNode) -> Iterator[Fault]:
    rules = ((rule, peers) for direction, peers in _DIRECTIONS.items() for rule in mappings(spec.get(direction)))
    for peer in (peer for rule, peers in rules for peer in mappings(rule.get(peers))):
        given = _given(peer, _PEERS)
        if not given:
            yield peer, "a peer that names nobody is none", "podSelector: {} for all pods of the namespace"
        elif "ipBlock" in given and len(given) > 1:
            yield peer, f"ipBlock and {given[0]} exclude each other", "make two peers of them"


def _given(holder: MappingNode, fields: Iterable[str]) -> list[str]:
    """Return which of some fields have a value; an empty list is none."""
    return [field for field in fields if to_value(holder.get(field)) not in (None, [])]


def _job(spec: MappingNode) -> Iterator[Fault]:
    if spec.get("backoffLimitPerIndex") is not None and spec.text("completionMode") != "Indexed":
        yield from _at(spec, "backoffLimitPerIndex", "only an Indexed Job has indexes", "completionMode: Indexed")
    yield from _ordered(spec, "maxFailedIndexes", "completions")
    if entries(spec.find("selector", "matchLabels")) and spec.text("manualSelector") != "true":
        yield from _at(spec, "selector", "a Job gets its selector by itself", "remove it")
    for rule in mappings(spec.find("podFailurePolicy", "rules")):
        if len(_given(rule, _FAILURES)) != 1:
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


def _cron_job(spec: MappingNode) -> Iterator[Fault]:
    schedule, zone = spec.scalar("schedule"), spec.scalar("timeZone")
    if schedule and _is_set(schedule) and (fault := _schedule(schedule.value)):
        yield schedule, fault, "minute hour day-of-month month day-of-week, as in 0 3 * * 1-5"
    if zone and _is_set(zone):
        zones = zoneinfo.available_timezones()  # none where the system has no table of them
        if zones and zone.value not in zones:
            hint = suggest(zone.value, zones) or "Etc/UTC, or Europe/Berlin"
            yield zone, f"there is no time zone {zone.value!r}", hint
    template = spec.mapping("jobTemplate", "spec")
    yield from _job(template) if template else ()


_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_CRON = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("day of the week", 0, 6))
_CRON_NAMES = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_DAYS)},
}
_MACRO = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)\Z")
_PART = re.compile(r"(?:[*?]|(\w+)(?:-(\w+))?)(?:/(\d+))?\Z")


def _schedule(text: str) -> str:
    """Return what is wrong with the schedule of a CronJob, by robfig/cron, with which Kubernetes reads it."""
    fields = text.split()
    if _MACRO.match(text):
        return ""
    if len(fields) != len(_CRON):
        return f"the schedule {text!r} has {len(fields)} fields, and not {len(_CRON)}"
    for field, (what, least, most) in zip(fields, _CRON, strict=True):
        for part in field.split(","):
            match = _PART.match(part)
            ends = [_CRON_NAMES.get(end.upper(), end) for end in match.groups()[:2] if end] if match else [""]
            numbers = [int(end) if str(end).isdecimal() else most + 1 for end in ends]
            if not all(least <= number <= most for number in numbers) or numbers != sorted(numbers):
                return f"{part!r} in the schedule {text!r} is no {what} from {least} to {most}"
    return ""


def _is_set(node: Scalar) -> bool:
    """Say whether a field has a text that no template and no setter fills in later."""
    return bool(node.value) and not variables.is_filled_in(node.value)


def _at(holder: MappingNode, field: str, message: str, hint: str) -> Iterator[Fault]:
    yield holder.get(field) or holder, message, hint


_OBJECTS: Mapping[Kind, Callable[[MappingNode], Iterator[Fault]]] = {
    ("autoscaling", "HorizontalPodAutoscaler"): partial(_ordered, less="minReplicas", more="maxReplicas"),
    (POLICY, "PodDisruptionBudget"): _budget,
    (APPS, "Deployment"): _deployment,
    (CORE, "Service"): _service,
    (CORE, "PersistentVolume"): _nfs,
    (NETWORKING, "Ingress"): _ingress,
    (NETWORKING, "NetworkPolicy"): _network_policy,
    (CORE, "LimitRange"): _limit_range,
    (KUEUE, "ClusterQueue"): _cluster_queue,
    (APPS, "DaemonSet"): _daemon_set,
    (LWS, "LeaderWorkerSet"): _groups,
    (BATCH, "Job"): _job,
    (BATCH, "CronJob"): _cron_job,
}
