"""Addresses in variables: a host that no Service or pod of the package has, a port that it does not open.

    CACHE_URL: redis://cahce:6379     variables and their values, files of ConfigMaps
    MASTER_ADDR: $(RUN)-worker-0-0.$(RUN)
    MASTER_PORT: "29501"              beside MASTER_ADDR, the port of that host

Only what is nearly the name of something in the package is told: other hosts may be the cluster's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packyard.core.errors import suggest
from packyard.core.kubernetes import job_sets
from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, is_kind, name_of
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.writing.checks import selectors, variables
from packyard.writing.checks.finding import Finding, Place, breach, within
from packyard.writing.checks.parsed import Parsed

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_HOST = re.compile(rf"({_LABEL})(?:\.({_LABEL}))?((?:\.{_LABEL})*)\Z")
_URL = re.compile(rf"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?({_LABEL}(?:\.{_LABEL})*)(?::(\d+))?(?=[/\s\"',?]|\Z)")
_PAIR = re.compile(rf"(?<![\w./:@-])({_LABEL}(?:\.{_LABEL})*):(\d{{2,5}})(?=[/\s\"',]|\Z)")
#: What a variable with a host is called, and the end of the one with its port.
_HOSTING = re.compile(r"(.*?)_?(?:HOST(?:NAME)?|ADDR(?:ESS)?|SERVER|SERVICE|ENDPOINT)\Z")
_VARIABLE = re.compile(r"\$\(([A-Za-z_]\w*)\)")
_SHORTEST = 3
_PORTS = {"http": "80", "https": "443"}


@dataclass(slots=True)
class _Known:
    """The Services of a package with the ports that each opens, and the names of the pods behind each."""

    ports: dict[str, set[str]] = field(default_factory=dict)
    pods: dict[str, list[re.Pattern[str]]] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    headless: set[str] = field(default_factory=set)
    balanced: set[str] = field(default_factory=set)  # Services with an address, whose pods have no names
    affix: str = ""  # what kustomize adds to the names of Services


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find hosts and ports that the package nearly has."""
    if not parsed.complete:
        return
    hosts = _known(parsed)
    if not hosts.ports and not hosts.pods:
        return
    for root in parsed.objects:
        governing = root.scalar("spec", "serviceName") if is_kind(root, APPS, "StatefulSet") else None
        if governing and governing.value in hosts.balanced:
            message = f"Service {governing.value!r} has an address of its own, and no names for the pods of this set"
            yield breach("dangling-reference", governing, message, "clusterIP: None in the Service")
        data = {entry.name: entry.value for entry in variables.data_of(root)}
        yield from _stated(data, data, hosts)
        yield from _paired(data, data, hosts)
        for container in parsed.containers_of(root):
            own = variables.find(container, parsed).values
            env = {each.text("name"): each.get("value") for each in mappings(container.get("env"))}
            yield from _stated({name: node for name, node in env.items() if node}, own, hosts)
            yield from _paired(own, env, hosts)


def _known(parsed: Parsed) -> _Known:
    hosts = _Known(affix=parsed.builds[0].affix if len(parsed.builds) == 1 else "")
    all_pods = [pod for root in parsed.objects for pod in parsed.pods_of(root)]
    for root in parsed.objects:
        name, spec = name_of(root), root.mapping("spec")
        if name is None or spec is None or not name.value:
            continue
        if is_kind(root, CORE, "Service"):
            ports = {each.text("port") for each in mappings(spec.get("ports"))}
            if spec.text("clusterIP") == "None":
                hosts.headless.add(name.value)
                selector = spec.mapping("selector")
                chosen = selectors.selected(selector, all_pods) if selector else []
                ports |= {port for pod in chosen for port in _declared(pod.containers)}
            elif spec.text("type") != "ExternalName" and spec.get("selector"):
                hosts.balanced.add(name.value)
            hosts.ports[name.value] = ports
        elif is_kind(root, APPS, "StatefulSet") and spec.text("serviceName"):
            _add(hosts, spec.text("serviceName"), name.value, [spec.get("replicas")])
        elif is_kind(root, BATCH, "Job") and spec.text("completionMode") == "Indexed":
            subdomain = spec.scalar("template", "spec", "subdomain")
            _add(hosts, subdomain.value if subdomain else "", name.value, [spec.get("completions")])
    for job_set in job_sets.find(parsed.objects):
        service = job_set.service.value if job_set.service else ""
        for pod_set in job_set.pod_sets:
            size = next((node for node in pod_set.sizes if node is not None), None)
            _add(hosts, service, f"{job_set.name.value}-{pod_set.role}", [pod_set.replicas, size])
        if service:
            roots = (root for root in parsed.objects if root.get("spec") is job_set.spec)
            ports = {port for root in roots for port in _declared(parsed.containers_of(root))}
            hosts.ports[service] = hosts.ports.get(service, set()) | ports
    return hosts


def _add(hosts: _Known, service: str, stem: str, counts: list[Node | None]) -> None:
    """Note the names of pods: those of a stem with a number behind it for each count, which begins at 0."""
    if not service:
        return
    numbers = [_below(node.value) if isinstance(node, Scalar) and node.value.isdecimal() else "0" for node in counts]
    hosts.pods.setdefault(service, []).append(re.compile(re.escape(stem) + "".join(f"-(?:{each})" for each in numbers)))
    hosts.examples.setdefault(service, []).append(stem + "-0" * len(numbers))


def _below(count: str) -> str:
    """Return an expression for the numbers below a count."""
    return "|".join(map(str, range(min(int(count) or 1, 999))))


def _declared(containers: list[MappingNode]) -> Iterator[str]:
    for container in containers:
        for port in mappings(container.get("ports")):
            yield port.text("containerPort")


def _expanded(text: str, own: Mapping[str, Node | None]) -> str:
    """Put the values of variables into a text, as Kubernetes does; what is not known stays."""

    def value(match: re.Match[str]) -> str:
        node = own.get(match[1])
        return node.value if isinstance(node, Scalar) else match.group()

    return _VARIABLE.sub(value, _VARIABLE.sub(value, text))


def _stated(values: Mapping[str, Node], own: Mapping[str, Node | None], hosts: _Known) -> Iterator[Finding]:
    for name, node in values.items():
        if not isinstance(node, Scalar) or not node.value:
            continue
        text = _expanded(node.value, own)
        if _HOSTING.match(name) and _HOST.match(text):
            yield from _host(text, node, hosts, is_said=True)
        else:
            yield from _in_text(node, text, hosts)


def _in_text(node: Scalar, text: str, hosts: _Known) -> Iterator[Finding]:
    """Find addresses in a text, each told at its own line."""
    for expression in (_URL, _PAIR):
        for match in expression.finditer(text):
            host, port = match[1], match[2] or _PORTS.get(match.group().partition(":")[0], "")
            place = within(node, match.group())
            faults = list(_host(host, place, hosts, is_said=expression is _URL))
            yield from faults
            if port and not faults:
                yield from _port(host, port, place, hosts)


def _host(host: str, place: Place, hosts: _Known, *, is_said: bool) -> Iterator[Finding]:
    """Find a host that is nearly that of a Service, or of a pod behind one."""
    parts = _HOST.match(host)
    if parts is None or _is_outside(parts):
        return
    first, second = parts[1], parts[2] or ""
    if hosts.affix and is_said and (renamed := first if first in hosts.ports else second) in hosts.ports:
        message = f"kustomize adds {hosts.affix!r} to the name of Service {renamed!r}, and changes no address"
        hint = "copy the name with replacements, or leave the prefix out"
        yield breach("reference-left-behind", place, message, hint)
        return
    if second in hosts.pods:
        if first not in hosts.ports and not any(each.fullmatch(first) for each in hosts.pods[second]):
            message = f"no pod of Service {second!r} is called {first!r}"
            yield breach("dangling-reference", place, message, f"the first is {hosts.examples[second][0]}")
        elif second in hosts.balanced and first not in hosts.ports:
            message = f"Service {second!r} has an address of its own, and no names for its pods"
            yield breach("dangling-reference", place, message, "clusterIP: None in the Service")
        return
    if second in hosts.headless and first not in hosts.ports:
        message = f"no pod of Service {second!r} has a name"
        yield breach("dangling-reference", place, message, f"subdomain: {second} in the pods of an Indexed Job")
        return
    near = suggest(second, hosts.pods) if second and second not in hosts.ports else ""
    if near and any(each.fullmatch(first) for names in hosts.pods.values() for each in names):
        yield breach("dangling-reference", place, f"Service {second!r} is not in the package", near)
    elif (
        first not in hosts.ports and first not in hosts.pods and len(first) >= _SHORTEST and (is_said or ".svc" in host)
    ):
        near = _near(first, hosts.ports)
        if near and not second.startswith(("com", "org", "net", "io")):
            message = f"Service {first!r} is not in the package"
            yield breach("dangling-reference", place, message, near)


def _near(name: str, names: Mapping[str, object]) -> str:
    """Return a hint where a name is spelled nearly as one of the package, and not merely part of it."""
    numbered = re.sub(r"-?\d+", "", name)
    near = [each for each in names if abs(len(each) - len(name)) <= 1 and re.sub(r"-?\d+", "", each) != numbered]
    hint = suggest(name, near)
    return hint if hint.count("'") == len("''") else ""


def _is_outside(parts: re.Match[str]) -> bool:
    """Say whether a host is no name of a cluster: an address by numbers, or a domain."""
    return parts[1].isdecimal() or parts[1] == "localhost" or (parts[3] != "" and ".svc" not in parts[3])


def _port(host: str, port: str, place: Place, hosts: _Known) -> Iterator[Finding]:
    parts = _HOST.match(host)
    if parts is None or _is_outside(parts):
        return
    service = parts[2] if parts[2] in hosts.pods and parts[1] not in hosts.ports else parts[1]
    open_ports = hosts.ports.get(service or "", set()) - {""}
    if open_ports and port not in open_ports:
        message = f"Service {service!r} has no port {port}"
        yield breach("no-such-port", place, message, f"it has {', '.join(sorted(open_ports))}")


def _paired(own: Mapping[str, Node | None], stated: Mapping[str, Node | None], hosts: _Known) -> Iterator[Finding]:
    """Find a variable with a port that the host of the variable beside it does not open."""
    for name, node in own.items():
        match = _HOSTING.match(name)
        port = stated.get(f"{match[1]}_PORT") if match and match[1] else None
        if isinstance(node, Scalar) and isinstance(port, Scalar) and port.value.isdecimal():
            host = _expanded(node.value, own)
            if _HOST.match(host):
                yield from _port(host, port.value, port, hosts)
