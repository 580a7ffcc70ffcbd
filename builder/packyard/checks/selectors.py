"""Faults of Services: whether they select pods of the package and ports of their containers, now and after each set."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.kubernetes.kinds import CORE, is_kind
from packyard.kubernetes.pods import Pod
from packyard.yaml.document import mappings
from packyard.yaml.node import Entry, MappingNode, Scalar

#: Who gives pods labels of their own, by the end of the labels' prefix.
_CONTROLLERS = ("kubernetes.io", "k8s.io", "kubeflow.org", "argoproj.io")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find Services that select no pod of the package, or that a set parts from their pods."""
    found_pods = [pod for root in parsed.objects for pod in parsed.pods_of(root)]
    labels = [found for pod in found_pods if (found := _labels(pod))]
    for root in parsed.objects:
        selector = root.mapping("spec", "selector") if is_kind(root, CORE, "Service") else None
        if selector is not None and selector.entries and not any(map(_is_given, selector.entries)):
            yield from _selected(selector, labels, parsed)
            yield from _ports(root, selector, found_pods, parsed)


def _ports(
    service: MappingNode, selector: MappingNode, found_pods: list[Pod[MappingNode]], parsed: Parsed
) -> Iterator[Finding]:
    """Find ports of a Service that no container of its pods declares, or that a set parts from the container's."""
    selected = [pod for pod in found_pods if (labels := _labels(pod)) and _matches(labels, selector)]
    containers = [container for pod in selected for container in pod.containers]
    declared = [port for container in containers for port in mappings(container.get("ports"))]
    spec = service.mapping("spec")
    for port in mappings(spec.get("ports")) if spec and declared else ():
        target = port.get("targetPort") or port.get("port")
        if not isinstance(target, Scalar) or not target.value:
            continue
        matching = [
            each.get(field)
            for each in declared
            for field in ("name", "containerPort")
            if each.text(field) == target.value
        ]
        here, there = parsed.changed_by(target), [parsed.changed_by(node) for node in matching]
        if not matching:
            known = {each.text("name") or each.text("containerPort") for each in declared} - {""}
            message = f"no container of the selected pods declares port {target.value}"
            yield error(
                "no-such-port", target.source, target.start, message, f"they declare {', '.join(sorted(known))}"
            )
        elif here not in there:
            message = f"this port changes with {_listed(here)}, and that of the container with {_listed(there[0])}"
            yield error("reference-left-behind", target.source, target.start, message, "give both the same comment")


def _labels(pod: Pod[MappingNode]) -> MappingNode | None:
    return pod.template.mapping("metadata", "labels") if pod.template else None


def _matches(labels: MappingNode, selector: MappingNode) -> bool:
    wanted = ((entry.name, entry.value) for entry in selector.entries)
    return all(isinstance(value, Scalar) and labels.text(name) == value.value for name, value in wanted)


def _selected(selector: MappingNode, labels: list[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    wanted = {entry.name: entry.value for entry in selector.entries if isinstance(entry.value, Scalar)}
    matching = [each for each in labels if all(each.text(name) == value.value for name, value in wanted.items())]
    if not matching and parsed.complete:
        message = "no pod of the package has the labels of this selector"
        yield error("selects-nothing", selector.source, selector.start, message, "compare it with the pod's labels")
    for name, value in wanted.items() if matching else ():
        here, there = parsed.changed_by(value), [parsed.changed_by(each.get(name)) for each in matching]
        if here not in there:
            message = f"this {name} changes with {_listed(here)}, and that of the pods with {_listed(there[0])}"
            yield error("reference-left-behind", value.source, value.start, message, "give both the same comment")


def _is_given(entry: Entry) -> bool:
    """Say whether a controller gives pods this label."""
    prefix = entry.name.rpartition("/")[0]
    return entry.name == "job-name" or (prefix.endswith(_CONTROLLERS) and prefix != "app.kubernetes.io")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
