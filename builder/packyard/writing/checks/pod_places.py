"""The annotation ``packyard/pods``, by which an object says where its pods are: whether it leads to some."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import kind_of
from packyard.core.kubernetes.pods import ANNOTATION, PodPlace
from packyard.core.yaml.document import entries, items
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_LIST = "[*]"


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find paths that lead to no pod, fields that are no containers, and annotations that are not read."""
    for root in parsed.fresh:
        for entry in entries(root.find("metadata", "annotations")):
            if entry.name == ANNOTATION:
                yield from _said(root, entry.value, parsed)
            elif entry.name.startswith("packyard/") and (hint := suggest(entry.name, [ANNOTATION])):
                yield breach("no-such-pod", entry, f"packyard reads no annotation {entry.name!r}", hint)


def _said(root: MappingNode, node: Node, parsed: Parsed) -> Iterator[Finding]:
    if pods.knows(kind_of(root)) or any(pod.fields is None for pod in parsed.pods_of(root)):
        message = f"packyard knows where a {root.text('kind')} has its pods: the annotation has no effect"
        yield breach("no-such-pod", node, message, "remove it")
        return
    if isinstance(node, Scalar) and len(node.value.split(",")) > pods.MOST_PLACES:
        message = f"only the first {pods.MOST_PLACES} paths are read"
        yield breach("no-such-pod", node, message, f"{_LIST} stands for each item")
    for place in pods.declared(root) or ():
        nodes = [chain[-1][1] for chain in place.chains((((), root),))]
        if not nodes:
            yield breach("no-such-pod", node, *_lost(root, place))
        for field in place.fields if nodes else ():
            if not any(isinstance(each.get(field), MappingNode) for each in nodes):
                names = [entry.name for each in nodes for entry in each.entries if isinstance(entry.value, MappingNode)]
                message = f"{place.path} has no container {field!r}, which would be a mapping"
                yield breach("no-such-pod", node, message, suggest(field, names))


def _lost(root: MappingNode, place: PodPlace) -> tuple[str, str]:
    """Return how far a path leads, and what may be meant."""
    value: Node = root
    trail: list[str] = []
    for step in place.path.replace("[", ".[").split("."):
        inside = next(iter(items(value)), None) if step == _LIST else value.get(step)
        if inside is None:
            return _stop(root, trail, step, value)
        value = inside
        trail.append(step)
    what = "is a list" if isinstance(value, SequenceNode) else "is a text"
    hint = f"{place.path}{_LIST} is each item of it" if isinstance(value, SequenceNode) else "a pod is a mapping"
    return f"{place.path} {what}, and no pod", hint


def _stop(root: MappingNode, trail: list[str], step: str, above: Node) -> tuple[str, str]:
    where = ".".join(trail).replace(f".{_LIST}", _LIST) or f"this {root.text('kind')}"
    if isinstance(above, SequenceNode):
        return f"{where} is a list", f"{where}{_LIST} is each item of it"
    if step == _LIST:
        return f"{where} has no items", "leave [*] out" if isinstance(above, MappingNode) else ""
    names = [entry.name for entry in entries(above)]
    return f"{where} has no field {step!r}", suggest(step, names) or "a path is such as spec.tasks[*].template.spec"
