"""What an API server refuses of a pod although schemas admit it: values that do not go with those of another field.

A test puts a pod of each row to a real API server, which refuses it, and the same pod without the fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import APPS, Kind, of
from packyard.core.kubernetes.name_forms import LABEL_VALUE
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.values import is_null, to_value
from packyard.writing.checks import variables
from packyard.writing.checks.faults import Fault, at, one, twice
from packyard.writing.checks.port_numbers import ASKED, PROBES

_HANDLERS = ("exec", *ASKED)
_HOOKS = ("exec", "httpGet", "sleep", "tcpSocket")
_SOURCES = ("configMapRef", "secretRef")
_CLAIMS = ("resourceClaimName", "resourceClaimTemplateName")
_SERVERS = of(APPS, "Deployment", "DaemonSet", "ReplicaSet", "StatefulSet")
_HUGE = "hugepages-"
#: What a pod may ask for itself.
_OF_PODS = ("cpu", "memory", _HUGE)
_SHORTEST_TOKEN = 600  # seconds


def check(pod: Pod[MappingNode], kind: Kind) -> Iterator[Fault]:
    """Find what is refused of a pod of an object of a kind."""
    for volume in pod.volumes:
        sources = [entry for entry in volume.entries if entry.name != "name" and not is_null(entry.value)]
        if len(sources) > 1:
            message = f"volume {volume.text('name')!r} has {' and '.join(entry.name for entry in sources)}"
            yield sources[1], message, f"put `{sources[0].name}: null` into the patch"
        yield from absolute(volume)
        yield from _tokens(volume)
    for container in pod.containers:
        yield from _container(container, pod)
    yield from _placed(pod)
    yield from _network(pod)
    for entry in entries(pod.spec.get("nodeSelector")):
        if isinstance(entry.value, Scalar) and not is_label(entry.value.value):
            yield entry, f"no node has a label with the value {entry.text!r}", "letters, digits, -, _ and ."
    for claim in mappings(pod.get("resourceClaims")):
        yield from one(claim, _CLAIMS, f"resource claim {claim.text('name')!r}")
    for entry in (each for field in ("requests", "limits") for each in entries(pod.spec.find("resources", field))):
        if not pod.is_argo and not entry.name.startswith(_OF_PODS):
            yield entry, f"a pod asks for no {entry.name} itself", "let its container ask for it"
    deadline = pod.spec.entry("activeDeadlineSeconds")
    if deadline and kind in _SERVERS and not is_null(deadline.value):
        yield deadline, f"a {kind[1]} has no deadline", "remove it, or make it a Job"


def _container(container: MappingNode, pod: Pod[MappingNode]) -> Iterator[Fault]:
    for variable in mappings(container.get("env")):
        name = variable.scalar("name")
        if variable.text("value") and variable.get("valueFrom") is not None:
            yield variable, f"variable {variable.text('name')} has both value and valueFrom", "remove one"
        if name and "=" in name.value and not variables.is_filled_in(name.value):
            yield name, f"the variable {name.value!r} has an = in its name", "name: NAME, value: VALUE"
    for source in mappings(container.get("envFrom")):
        yield from one(source, _SOURCES, "an entry of envFrom")
    yield from twice(mappings(container.get("ports")), "port", "name")
    yield from _claims(container, pod)
    for probe in PROBES:
        handlers = [entry for entry in entries(container.get(probe)) if entry.name in _HANDLERS]
        if len(handlers) > 1:
            yield handlers[1], f"{probe} asks in two ways", f"keep {handlers[0].name} or {handlers[1].name}"
    for called in ("preStop", "postStart"):
        hook = container.mapping("lifecycle", called)
        if hook is not None:
            yield from one(hook, _HOOKS, called)
    privileged = container.scalar("securityContext", "privileged")
    for mount in mappings(container.get("volumeMounts")):
        if mount.text("subPath") and mount.text("subPathExpr"):
            yield from at(mount, "subPathExpr", "subPath and subPathExpr exclude each other", "remove one")
        if mount.text("mountPropagation") == "Bidirectional" and not (privileged and privileged.value != "false"):
            message = "only a privileged container mounts something for others (Bidirectional)"
            yield from at(mount, "mountPropagation", message, "HostToContainer, or remove it")
    yield from _huge_pages(container)


def _huge_pages(container: MappingNode) -> Iterator[Fault]:
    """Find huge pages without CPU or memory."""
    asked = [entry for field in ("limits", "requests") for entry in entries(container.find("resources", field))]
    pages = [entry for entry in asked if entry.name.startswith(_HUGE)]
    if pages and not any(entry.name in ("cpu", "memory") for entry in asked):
        yield pages[0], "who asks for huge pages asks for cpu or memory, too", "add memory"


def _tokens(volume: MappingNode) -> Iterator[Fault]:
    for source in mappings(volume.find("projected", "sources")):
        seconds = source.scalar("serviceAccountToken", "expirationSeconds")
        if seconds and seconds.value.isdecimal() and int(seconds.value) < _SHORTEST_TOKEN:
            yield seconds, f"a token lasts for {_SHORTEST_TOKEN} seconds at least", f"{_SHORTEST_TOKEN} or more"


def _placed(pod: Pod[MappingNode]) -> Iterator[Fault]:
    """Find constraints of where a pod runs that cannot be meant so."""
    constraints = mappings(pod.get("topologySpreadConstraints"))
    yield from twice(constraints, "the constraint of topology", "topologyKey", "whenUnsatisfiable")
    for constraint in constraints:
        if constraint.get("minDomains") and constraint.text("whenUnsatisfiable") != "DoNotSchedule":
            message = "minDomains counts only where a pod may not be scheduled otherwise"
            yield from at(constraint, "minDomains", message, "whenUnsatisfiable: DoNotSchedule, or remove it")
    affinity = pod.get("affinity")
    path = ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    required = affinity.mapping(*path) if isinstance(affinity, MappingNode) else None
    if required is not None and not to_value(required.get("nodeSelectorTerms")):
        yield from at(required, "nodeSelectorTerms", "a required node affinity has no terms", "name a label of nodes")


def _network(pod: Pod[MappingNode]) -> Iterator[Fault]:
    """Find settings of a pod's network that exclude each other."""
    servers = pod.get("dnsConfig")
    if pod.spec.text("dnsPolicy") == "None" and isinstance(servers, MappingNode) and servers.get("nameservers") is None:
        yield servers, "with dnsPolicy None, dnsConfig has nameservers", "add nameservers"
    is_shared = pod.spec.text("hostNetwork") == "true"
    if is_shared and pod.spec.text("hostUsers") == "false":
        yield from at(pod.spec, "hostUsers", "a pod in the network of its node has the users of its node", "remove it")
    for port in (each for container in pod.containers for each in mappings(container.get("ports")) if is_shared):
        here, there = port.text("hostPort"), port.text("containerPort")
        if here.isdecimal() and there.isdecimal() and here not in ("0", there):
            message = f"hostPort is {here}, and in the network of the node it is the containerPort, {there}"
            yield from at(port, "hostPort", message, f"hostPort: {there}, or remove it")


def _claims(container: MappingNode, pod: Pod[MappingNode]) -> Iterator[Fault]:
    """Find a claim of devices that the pod does not have."""
    claims = [each.text("name") for each in mappings(pod.get("resourceClaims"))]
    for claim in mappings(container.find("resources", "claims")):
        if claim.text("name") not in claims:
            yield claim, f"the pod has no resource claim {claim.text('name')!r}", "list it in resourceClaims"


def is_label(text: str) -> bool:
    """Say whether a text may be the value of a label, or somebody fills it in."""
    return variables.is_filled_in(text) or LABEL_VALUE.admits(text)


def absolute(holder: MappingNode) -> Iterator[Fault]:
    """Find an NFS export with a path that is not absolute."""
    path = holder.scalar("nfs", "path")
    if path and path.value and not path.value.startswith("/") and not variables.is_filled_in(path.value):
        yield path, f"the path of an NFS export is absolute, not {path.value!r}", f"/{path.value}"
