"""Faults of ports: probes that ask another, Services that lead astray, servers that are not told theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: The number or the name of a port.
_PORT = re.compile(r"\d+\Z|[a-z][a-z0-9-]*\Z")
_TOLD_PORT = re.compile(r"(?:^-p|port[= ]|^:)\d{2,5}\Z", re.IGNORECASE)
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
ASKED = ("httpGet", "tcpSocket", "grpc")
#: Ports of one server that speak different protocols.
_SERVERS = (
    ("TensorFlow Serving", {"8500": "gRPC", "8501": "HTTP"}),
    ("Triton", {"8000": "HTTP", "8001": "gRPC", "8002": "metrics"}),
)


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find ports that do not fit together, now or after a set."""
    for root in parsed.objects:
        if is_kind(root, CORE, "Service"):
            yield from _crossed(root)
            yield from _without_ports(root, parsed)
        for pod in parsed.pods_of(root):
            for container in pod.containers:
                yield from _probes(container, parsed)
                if pod.is_argo or pods.knows(kind_of(root)):  # others may be merged with what an operator has
                    yield from _without_question(container, parsed)
                yield from _untold(container, pod, parsed)


def _probes(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find probes of a port that the container does not have, or that a set parts from it."""
    handlers = [container.mapping(probe, kind) for probe in PROBES for kind in ASKED]
    handlers += [container.mapping("lifecycle", hook, "httpGet") for hook in ("postStart", "preStop")]
    declared = mappings(container.get("ports"))
    for port in (each.scalar("port") for each in handlers if each):
        if not port or not _PORT.match(port.value):
            continue
        same = [each.get("containerPort") for each in declared if each.text("containerPort") == port.value]
        if port.value.isdecimal() and port.style != "plain":
            yield _as_text(port)
        elif not port.value.isdecimal():
            if all(each.text("name") != port.value for each in declared):
                names = ", ".join(name for each in declared if (name := each.text("name"))) or "no port by a name"
                message = f"a probe asks port {port.value!r}, which the container does not declare"
                yield breach("probe-port", port, message, f"it declares {names}")
        elif same:
            here, there = parsed.changed_by(port), [parsed.changed_by(node) for node in same]
            if here not in there:
                message = "a set changes the port of this probe or that of the container, and not both"
                yield breach("probe-port", port, message, "name the port, and ask it by its name")
        elif (any(each.source is port.source for each in declared) or _names_ports(container)) and not _mentions(
            container, port.value, parsed
        ):
            message = f"a probe asks port {port.value}, which the container neither declares nor is told of"
            yield breach("probe-port", port, message, "ask a port that it declares", severity="warning")


def _as_text(port: Scalar) -> Finding:
    message = f"{port.value!r} in quotes is the name of a port, and a name has a letter: the API server rejects it"
    return breach("port-as-text", port, message, "remove the quotes")


def _without_question(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a probe that does not say what to ask, which the API server rejects."""
    for entry in container.entries if parsed.complete else ():
        value = entry.value
        if entry.name in PROBES and isinstance(value, MappingNode) and not any(map(value.get, (*ASKED, "exec"))):
            message = f"{entry.name} asks nothing: the API server rejects it"
            yield breach("probe-without-question", entry, message, "add httpGet or tcpSocket")


def _without_ports(service: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a Service without ports, which the API server rejects unless it is only a name in DNS."""
    spec = service.mapping("spec")
    is_name = spec is not None and (spec.text("clusterIP") == "None" or spec.text("type") == "ExternalName")
    if parsed.complete and not is_name and not (spec and spec.get("ports")):
        place = service.entry("spec") or service
        yield breach("missing-field", place, "the Service has no ports", "ports: [{port: 80}]")


def _names_ports(container: MappingNode) -> bool:
    """Say whether a program is told ports: then it listens on no other."""
    return any(_TOLD_PORT.search(word.value) for word in variables.words(container))


def _mentions(container: MappingNode, number: str, parsed: Parsed) -> bool:
    """Say whether a command, an argument or a variable holds a number."""
    texts = [*variables.words(container), *variables.find(container, parsed).values.values()]
    whole = re.compile(rf"(?<!\d){number}(?!\d)")
    return any(isinstance(each, Scalar) and whole.search(each.value) for each in texts)


def _untold(container: MappingNode, pod: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    """Find a setter that changes the port that is declared, and nothing that the program reads."""
    for port in mappings(container.get("ports")):
        number = port.get("containerPort")
        setters = parsed.changed_by(number)
        if not number or not setters or setters & _told(container, pod, parsed):
            continue
        message = (
            f"{', '.join(sorted(setters))} changes the declared port, and the program is not told: it listens as before"
        )
        hint = "give the number to the program, as an argument or a variable, or make it fixed"
        yield breach("port-not-told", number, message, hint)


def _told(container: MappingNode, pod: Pod[MappingNode], parsed: Parsed) -> frozenset[str]:
    """Return the setters that change what a program is told: its words, its variables, and files of ConfigMaps."""
    own = variables.find(container, parsed)
    nodes = [*variables.words(container), *own.values.values()]
    for volume in pod.volumes:
        source = volume.mapping("configMap")
        held = variables.config_map(source.text("name"), parsed) if source else None
        nodes += [entry.value for entry in held or ()]
    return frozenset[str]().union(*map(parsed.changed_by, nodes))


def _crossed(service: MappingNode) -> Iterator[Finding]:
    """Find a port that leads to another protocol than its number promises."""
    for port in mappings(service.find("spec", "ports")):
        node, aim, target = port.scalar("port"), port.scalar("targetPort"), port.text("targetPort")
        if aim and aim.value.isdecimal() and aim.style != "plain":
            yield _as_text(aim)
        for server, ports in _SERVERS:
            if node and target != node.value and target in ports and node.value in ports:
                message = (
                    f"at port {node.value} {server} speaks {ports[node.value]}, and this leads to its {ports[target]}"
                )
                yield breach("crossed-port", node, message, "let each port lead to its own number")
