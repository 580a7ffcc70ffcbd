"""Hosts and ports in variables that are called so, which no Service or pod of the package has.

    MASTER_ADDR: $(RUN)-worker-0-0.$(RUN)     variables and their values, files of ConfigMaps
    MASTER_PORT: "29501"                      beside MASTER_ADDR, the port of that host

Only what is nearly the name of something in the package is told: other hosts may be the cluster's.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packyard.core.errors import suggest
from packyard.core.kubernetes import job_sets
from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, called, is_kind, kind_of
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.writing.checks import selectors, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_LABEL = r"[a-z](?:[-a-z0-9]*[a-z0-9])?"
_HOST = re.compile(rf"({_LABEL})(?:\.({_LABEL}))?(?:\.{_LABEL}\.svc(?:\.{_LABEL})*|\.svc)?\Z")
#: What a variable with a host is called, and the beginning of the one with its port.
_HOSTING = re.compile(r"(.*?)_?(?:HOST(?:NAME)?|ADDR(?:ESS)?|SERVER|SERVICE|ENDPOINT)\Z")
#: Where a kind names the Service by which its pods are found.
_SERVED = {
    (APPS, "StatefulSet"): ("spec", "serviceName"),
    (BATCH, "Job"): ("spec", "template", "spec", "subdomain"),
}
_VARIABLE = re.compile(r"\$\(([A-Za-z_]\w*)\)")


@dataclass(slots=True)
class _Known:
    """The ports that each Service opens, and the names of the pods behind each."""

    ports: dict[str, set[str]] = field(default_factory=dict)
    pods: dict[str, list[str]] = field(default_factory=dict)

    def has_pod(self, service: str, name: str) -> bool:
        """Say whether a pod behind a Service is called so; a ``*`` in its name is a number."""
        return any(re.fullmatch(re.escape(pattern).replace(r"\*", r"\d+"), name) for pattern in self.pods[service])


def check(subject: Subject) -> Iterator[Finding]:
    """Find hosts and ports that the package nearly has."""
    known = _known(subject) if subject.complete else _Known()
    for root in subject.objects if known.ports or known.pods else ():
        yield from _variables({entry.name: entry.value for entry in variables.data_of(root)}, known)
        for container in subject.containers_of(root):
            yield from _variables(variables.find(container, subject).values, known)


def _known(subject: Subject) -> _Known:
    known = _Known()
    for root in subject.objects:
        name = called(root)
        if is_kind(root, CORE, "Service"):
            ports = {port.text("port") for port in mappings(root.find("spec", "ports"))}
            if root.text("spec", "clusterIP") == "None" and (selector := root.mapping("spec", "selector")):
                chosen = selectors.selected(selector, subject.all_pods)
                ports |= _declared([container for pod in chosen for container in pod.containers])
                known.pods.setdefault(name, [])
            known.ports[name] = ports
        elif service := root.text(*_SERVED.get(kind_of(root), ("",))):
            known.pods.setdefault(service, []).append(f"{name}-*")
    for job_set in job_sets.find(subject.objects):
        if job_set.service:
            service = job_set.service.value
            known.pods.setdefault(service, []).extend(
                f"{job_set.name.value}-{pods.role}-*-*" for pods in job_set.pod_sets
            )
            roots = (root for root in subject.objects if root.get("spec") is job_set.spec)
            opened = (port for root in roots for port in _declared(subject.containers_of(root)))
            known.ports.setdefault(service, set()).update(opened)
    return known


def _declared(containers: list[MappingNode]) -> set[str]:
    return {port.text("containerPort") for container in containers for port in mappings(container.get("ports"))}


def _variables(own: Mapping[str, Node | None], known: _Known) -> Iterator[Finding]:
    """Find what is wrong with the hosts and ports that variables have."""
    for name, node in own.items():
        hosting = _HOSTING.match(name)
        host = _HOST.match(_expanded(node.value, own)) if hosting and isinstance(node, Scalar) else None
        if not hosting or not host or not isinstance(node, Scalar) or host[1] == "localhost":
            continue
        yield from _host(host[1], host[2] or "", node, known)
        port = own.get(f"{hosting[1]}_PORT") if hosting[1] else None
        service = host[2] if host[2] in known.pods and host[1] not in known.ports else host[1]
        open_ports = known.ports.get(service, set()) - {""}
        if isinstance(port, Scalar) and port.value.isdecimal() and open_ports and port.value not in open_ports:
            yield selectors.no_port(port, open_ports, f"Service {service!r} has no port {port.value}")


def _expanded(text: str, own: Mapping[str, Node | None]) -> str:
    """Put the values of variables into a text, as Kubernetes does; what is not known stays."""

    def value(match: re.Match[str]) -> str:
        node = own.get(match[1])
        return node.value if isinstance(node, Scalar) else match.group()

    return _VARIABLE.sub(value, _VARIABLE.sub(value, text))


def _host(first: str, second: str, place: Scalar, known: _Known) -> Iterator[Finding]:
    """Find a host that is nearly that of a Service, or of a pod behind one."""
    if first in known.ports:
        return
    if second in known.pods and not known.has_pod(second, first):
        first_pod = next((pod.replace("*", "0") for pod in known.pods[second]), "")
        hint = f"the first is {first_pod}" if first_pod else f"subdomain: {second} in the pods of an Indexed Job"
        yield breach("dangling-reference", place, f"no pod of Service {second!r} is called {first!r}", hint)
    elif second and second not in known.pods and (near := suggest(second, known.pods)):
        yield breach("dangling-reference", place, f"Service {second!r} is not in the package", near)
    elif not second and first not in known.pods and (near := suggest(first, known.ports)) and near.count("'") == 2:
        yield breach("dangling-reference", place, f"Service {first!r} is not in the package", near)
