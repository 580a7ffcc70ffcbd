"""Faults of ports: probes that a set leaves behind, servers that are not told theirs."""

from collections.abc import Iterator

from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
ASKED = ("httpGet", "tcpSocket", "grpc")


def check(subject: Subject) -> Iterator[Finding]:
    """Find ports that do not fit together, now or after a set."""
    for pod in subject.all_pods:
        for container in pod.containers:
            yield from _probes(container, subject)
            yield from _untold(container, pod, subject)


def _probes(container: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find probes of a port that a set parts from that of the container."""
    handlers = [container.mapping(probe, kind) for probe in PROBES for kind in ASKED]
    handlers += [container.mapping("lifecycle", hook, "httpGet") for hook in ("postStart", "preStop")]
    declared = mappings(container.get("ports"))
    for port in (handler.scalar("port") for handler in handlers if handler):
        is_number = port is not None and port.style == "plain"  # in quotes it is the name of a port
        same = [item.get("containerPort") for item in declared if port and item.text("containerPort") == port.value]
        here, changed = subject.changed_by(port), [subject.changed_by(node) for node in same]
        if port and is_number and same and here not in changed:
            message = "a set changes the port of this probe or that of the container, and not both"
            yield breach("probe-port", port, message, "name the port, and ask it by its name")


def _untold(container: MappingNode, pod: Pod[MappingNode], subject: Subject) -> Iterator[Finding]:
    """Find a setter that changes the port that is declared, and nothing that the program reads."""
    for port in mappings(container.get("ports")):
        number = port.get("containerPort")
        setters = subject.changed_by(number)
        if not number or not setters or setters & _told(container, pod, subject):
            continue
        changing = ", ".join(sorted(setters))
        message = f"{changing} changes the declared port, and the program is not told: it listens as before"
        hint = "give the number to the program, as an argument or a variable, or make it fixed"
        yield breach("port-not-told", number, message, hint)


def _told(container: MappingNode, pod: Pod[MappingNode], subject: Subject) -> frozenset[str]:
    """Return the setters that change what a program is told: its words, its variables, and files of ConfigMaps."""
    own = variables.find(container, subject)
    nodes = [*variables.words(container), *own.values.values()]
    for volume in pod.volumes:
        nodes += [entry.value for entry in variables.content(volume.text("configMap", "name"), subject) or ()]
    return frozenset[str]().union(*map(subject.changed_by, nodes))
