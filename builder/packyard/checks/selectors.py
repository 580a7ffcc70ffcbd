"""Selectors of Services: the pods that they select, now and after a set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packyard.checks import pod as pods
from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed, reached
from packyard.text.node import Entry, Scalar
from packyard.text.node import Mapping as MappingNode

#: Who gives pods labels of their own, by the end of the labels' prefix.
_CONTROLLERS = ("kubernetes.io", "k8s.io", "kubeflow.org", "argoproj.io")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find Services that select no pod of the package, or that a set parts from their pods."""
    changed_by = reached(parsed)
    labels = [found for root in parsed.objects for found in pods.labels(root)]
    for root in parsed.objects:
        selector = root.mapping("spec", "selector") if root.text("kind") == "Service" else None
        if selector is not None and selector.entries and not any(map(_is_given, selector.entries)):
            yield from _selected(selector, labels, changed_by, complete=parsed.complete)


def _selected(
    selector: MappingNode, labels: list[MappingNode], changed_by: Mapping[int, frozenset[str]], *, complete: bool
) -> Iterator[Finding]:
    wanted = {entry.name: entry.value for entry in selector.entries if isinstance(entry.value, Scalar)}
    matching = [each for each in labels if all(each.text(name) == value.value for name, value in wanted.items())]
    if not matching and complete:
        message = "the selector matches the labels of no pod in the package"
        yield error("selects-nothing", selector.source, selector.start, message, "compare it with the pod's labels")
    for name, value in wanted.items() if matching else ():
        here = changed_by.get(id(value), frozenset())
        there = [changed_by.get(id(each.get(name)), frozenset()) for each in matching]
        if here not in there:
            message = f"this {name} changes with {_listed(here)}, and that of the pods with {_listed(there[0])}"
            yield error("reference-left-behind", value.source, value.start, message, "give both the same comment")


def _is_given(entry: Entry) -> bool:
    """Say whether a controller gives pods this label."""
    prefix = entry.name.rpartition("/")[0]
    return entry.name == "job-name" or (prefix.endswith(_CONTROLLERS) and prefix != "app.kubernetes.io")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
