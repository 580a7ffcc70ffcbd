"""What leads to a Service or a port of the package: Ingresses and routes to their backends, policies to open ports."""

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import CORE, NETWORKING, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings, walk
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.writing.checks import selectors
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

GATEWAY = "gateway.networking.k8s.io"
#: How Services that operators make are called: those of Ray clusters.
_MADE = ("-head-svc", "-serve-svc")


def check(subject: Subject) -> Iterator[Finding]:
    """Find backends and ports that are not there, and ports of policies."""
    if not subject.complete:
        return
    services = {name: mappings(root.find("spec", "ports")) for name, root in subject.named(CORE, "Service").items()}
    for root in subject.objects:
        for reference, field, port in _references(root):
            yield from _service(reference.get("name"), services, subject)
            yield from _port(port, field, services.get(reference.text("name")))
        if is_kind(root, NETWORKING, "NetworkPolicy"):
            yield from _policy(root, subject)


def _references(root: MappingNode) -> Iterator[tuple[MappingNode, str, Node | None]]:
    """Yield what names a Service, with the number or the name of its port, and which field of a port that is."""
    if is_kind(root, NETWORKING, "Ingress"):
        for service in filter(None, (node.mapping("service") for node in walk(root.get("spec")))):
            name = service.find("port", "name")
            yield service, "name" if name else "port", name or service.find("port", "number")
    elif kind_of(root)[0] == GATEWAY:
        for rule in mappings(root.find("spec", "rules")):
            for backend in mappings(rule.get("backendRefs")):
                if backend.text("kind", default="Service") == "Service" and not backend.get("namespace"):
                    yield backend, "port", backend.get("port")


def _service(name: Node | None, services: dict[str, list[MappingNode]], subject: Subject) -> Iterator[Finding]:
    if not services or not isinstance(name, Scalar) or not name.value or subject.waits(name):
        return  # all of them may be another package's
    near = suggest(name.value, services)
    if name.value not in services and not name.value.endswith(_MADE) and (near or not subject.is_loose):
        hint = near or f"there is {', '.join(sorted(services))}"
        yield breach("dangling-reference", name, f"Service {name.value!r} is not in the package", hint)


def _port(port: Node | None, field: str, ports: list[MappingNode] | None) -> Iterator[Finding]:
    """Find a number or a name that no port of a Service has."""
    known = {item.text(field) for item in ports or ()} - {""}
    is_asked = bool(known) if field == "port" else ports is not None
    if is_asked and isinstance(port, Scalar) and port.value and port.value not in known:
        yield selectors.no_port(port, known, f"the Service has no port {port.value}", severity="error")


def _policy(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find a port that no pod of a policy declares, and a peer that no pod is."""
    own = root.mapping("spec", "podSelector")
    chosen = selectors.selected(own.mapping("matchLabels"), subject.all_pods) if own else []
    for rule in mappings(root.find("spec", "ingress")):
        yield from _opened(rule, chosen)
        yield from _peers(rule, "from", subject)
    for rule in mappings(root.find("spec", "egress")):
        peers = [item.mapping("podSelector", "matchLabels") for item in mappings(rule.get("to"))]
        aims = [pod for peer in peers if peer for pod in selectors.selected(peer, subject.all_pods)]
        yield from _opened(rule, aims if all(peers) else [])
        yield from _peers(rule, "to", subject)


def _opened(rule: MappingNode, chosen: list[Pod[MappingNode]]) -> Iterator[Finding]:
    ports = [item for pod in chosen for container in pod.containers for item in mappings(container.get("ports"))]
    declared = {item.text(field) for item in ports for field in ("name", "containerPort")} - {""}
    for policy_port in mappings(rule.get("ports")) if declared else ():
        port = policy_port.get("port")
        if isinstance(port, Scalar) and port.value and port.value not in declared and not policy_port.get("endPort"):
            message = f"no pod that the policy is for declares port {port.value}, and policies are about those"
            yield selectors.no_port(port, declared, message)


def _peers(rule: MappingNode, field: str, subject: Subject) -> Iterator[Finding]:
    """Find a peer that is nearly a pod of the package: others may be anywhere in its namespace."""
    values_by_label: dict[str, set[str]] = {}
    for pod in subject.all_pods:
        for entry in entries(selectors.labels_of(pod)):
            values_by_label.setdefault(entry.name, set()).add(entry.text)
    for peer in mappings(rule.get(field)):
        labels = peer.find("podSelector", "matchLabels") if not peer.get("namespaceSelector") else None
        for entry in entries(labels):
            value = entry.value
            if isinstance(value, Scalar) and value.value not in values_by_label.get(entry.name, {value.value}):
                near = suggest(value.value, values_by_label[entry.name])
                if near and not subject.changed_by(value):
                    message = f"no pod of the package has the label {entry.name}: {value.value}"
                    yield breach("selects-nothing", value, message, near)
