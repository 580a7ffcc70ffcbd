"""What leads to a Service or a port of the package: Ingresses and routes to their backends, policies to open ports."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import CORE, INFERENCE, NETWORKING, called, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings, walk
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import selectors
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

GATEWAY = "gateway.networking.k8s.io"
#: How Services that operators make are called: those of Ray clusters.
_MADE = ("-head-svc", "-serve-svc")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find backends and ports that are not there, and ports of policies."""
    if not parsed.complete:
        return
    services = {name: mappings(root.find("spec", "ports")) for name, root in parsed.named(CORE, "Service").items()}
    found_pods = [pod for root in parsed.objects for pod in parsed.pods_of(root)]
    for root in parsed.objects:
        if is_kind(root, NETWORKING, "Ingress"):
            for service in (found for node in walk(root.get("spec")) if (found := node.mapping("service"))):
                yield from _service(service.get("name"), services, parsed)
                yield from _ingress_port(service, services)
        elif kind_of(root)[0] == GATEWAY:
            for rule in mappings(root.find("spec", "rules")):
                for backend in mappings(rule.get("backendRefs")):
                    if backend.text("kind", "Service") == "Service" and not backend.get("namespace"):
                        yield from _service(backend.get("name"), services, parsed)
                        yield from _number(backend.get("port"), services.get(backend.text("name")))
                    elif backend.text("kind") == "InferencePool" and not backend.get("namespace"):
                        yield from _of_pool(backend, parsed)
        elif is_kind(root, INFERENCE, "InferencePool"):
            yield from _pool(root, services, found_pods, parsed)
        elif is_kind(root, NETWORKING, "NetworkPolicy"):
            yield from _policy(root, found_pods, parsed)


def _service(name: object, services: dict[str, list[MappingNode]], parsed: Parsed) -> Iterator[Finding]:
    if not services or not isinstance(name, Scalar) or not name.value or parsed.waits(name):
        return  # all of them may be another package's
    near = suggest(name.value, services)
    if name.value not in services and not name.value.endswith(_MADE) and (near or not parsed.is_loose):
        hint = near or f"there is {', '.join(sorted(services))}"
        yield breach("dangling-reference", name, f"Service {name.value!r} is not in the package", hint)


def _of_pool(backend: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a route to a pool that the package has in another group, or under nearly that name."""
    groups = {called(root): kind_of(root)[0] for root in parsed.objects if kind_of(root)[1] == "InferencePool"}
    name, group = backend.text("name"), groups.get(backend.text("name"))
    if group is not None and group != backend.text("group"):
        message = f"InferencePool {name!r} is of the group {group}"
        yield breach("dangling-reference", backend.get("group") or backend, message, f"group: {group}")
    elif group is None and (near := suggest(name, groups)):
        message = f"InferencePool {name!r} is not in the package"
        yield breach("dangling-reference", backend.get("name") or backend, message, near)


def _pool(
    root: MappingNode, services: dict[str, list[MappingNode]], found_pods: list[Pod[MappingNode]], parsed: Parsed
) -> Iterator[Finding]:
    """Find a port that no pod of a pool declares, and a picker that is not there."""
    selector = root.mapping("spec", "selector", "matchLabels")
    chosen = selectors.selected(selector, found_pods) if selector else []
    ports = [each for pod in chosen for container in pod.containers for each in mappings(container.get("ports"))]
    declared = {each.text("containerPort") for each in ports} - {""}
    for target in mappings(root.find("spec", "targetPorts")):
        number = target.scalar("number")
        if number and declared and number.value not in declared:
            message = f"no container of the pool's pods declares port {number.value}"
            yield breach("no-such-port", number, message, f"they declare {_listed(declared)}")
    picker = root.mapping("spec", "endpointPickerRef")
    if picker and picker.text("kind", "Service") == "Service":
        yield from _service(picker.get("name"), services, parsed)
        yield from _number(picker.find("port", "number"), services.get(picker.text("name")))


def _ingress_port(service: MappingNode, services: dict[str, list[MappingNode]]) -> Iterator[Finding]:
    ports = services.get(service.text("name"))
    name = service.scalar("port", "name")
    yield from _number(service.find("port", "number"), ports)
    names = {each.text("name") for each in ports or ()} - {""}
    if ports is not None and name and name.value and name.value not in names:
        hint = suggest(name.value, names) or f"it has {', '.join(sorted(names)) or 'no named port'}"
        yield breach("no-such-port", name, f"the Service has no port {name.value!r}", hint)


def _number(port: object, ports: list[MappingNode] | None) -> Iterator[Finding]:
    numbers = {each.text("port") for each in ports or ()} - {""}
    if numbers and isinstance(port, Scalar) and port.value and port.value not in numbers:
        yield breach("no-such-port", port, f"the Service has no port {port.value}", f"it has {_listed(numbers)}")


def _policy(root: MappingNode, found_pods: list[Pod[MappingNode]], parsed: Parsed) -> Iterator[Finding]:
    """Find a port that no pod of a policy declares, and a peer that no pod is."""
    own = root.mapping("spec", "podSelector")
    chosen = selectors.selected(own.mapping("matchLabels"), found_pods) if own else []
    for rule in mappings(root.find("spec", "ingress")):
        yield from _opened(rule, chosen)
        yield from _peers(rule, "from", found_pods, parsed)
    for rule in mappings(root.find("spec", "egress")):
        peers = [each.mapping("podSelector", "matchLabels") for each in mappings(rule.get("to"))]
        aims = [pod for each in peers if each for pod in selectors.selected(each, found_pods)]
        yield from _opened(rule, aims if all(peers) else [])
        yield from _peers(rule, "to", found_pods, parsed)


def _opened(rule: MappingNode, chosen: list[Pod[MappingNode]]) -> Iterator[Finding]:
    ports = [each for pod in chosen for container in pod.containers for each in mappings(container.get("ports"))]
    declared = {each.text(field) for each in ports for field in ("name", "containerPort")} - {""}
    for policy_port in mappings(rule.get("ports")) if declared else ():
        port = policy_port.get("port")
        if isinstance(port, Scalar) and port.value and port.value not in declared and not policy_port.get("endPort"):
            message = f"no pod that the policy is for declares port {port.value}"
            hint = suggest(port.value, declared) or f"they declare {_listed(declared)}; a policy is about ports of pods"
            yield breach("no-such-port", port, message, hint)


def _peers(rule: MappingNode, field: str, found_pods: list[Pod[MappingNode]], parsed: Parsed) -> Iterator[Finding]:
    """Find a peer that is nearly a pod of the package: others may be anywhere in its namespace."""
    values_by_label: dict[str, set[str]] = {}
    for pod in found_pods:
        for entry in entries(selectors.labels_of(pod)):
            values_by_label.setdefault(entry.name, set()).add(entry.text)
    for peer in mappings(rule.get(field)):
        labels = peer.find("podSelector", "matchLabels") if not peer.get("namespaceSelector") else None
        for entry in entries(labels):
            value = entry.value
            if isinstance(value, Scalar) and value.value not in values_by_label.get(entry.name, {value.value}):
                near = suggest(value.value, values_by_label[entry.name])
                if near and not parsed.changed_by(value):
                    message = f"no pod of the package has the label {entry.name}: {value.value}"
                    yield breach("selects-nothing", value, message, near)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
