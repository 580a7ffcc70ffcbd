"""Options: Components that lie beside a use case, for its user to enable, in terms that kustomize knows.

    options/debug/kustomization.yaml    a Component: its description, the objects that it adds, its patches
    options/debug/job.json6902          RFC 6902; a YAML file whose root is a list makes `cfg set` of 3.8.7 fail
    options/debug/Krmfile.option        definitions that its fields need and the use case does not have, and its rules

In the sources an option is an overlay like any other. Patches find their objects by kind, and by the component label
where a use case has several of that kind, as names are for the user to change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from packyard.errors import InputError, Problem
from packyard.setters.definition import Setter
from packyard.setters.rules.rule import Rule
from packyard.source import parts, ranks
from packyard.source.accumulate import Expanded, Object, accumulate, file_names
from packyard.source.idle import Idle
from packyard.source.parts import Part
from packyard.source.security import Excuse
from packyard.text import layout
from packyard.text.node import Sequence as SequenceNode
from packyard.text.scalar import double_quoted

DIRECTORY = "options"
DEFINITIONS = "Krmfile.option"
PATCH_SUFFIX = ".json6902"
COMPONENT_LABEL = "app.kubernetes.io/component"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one use case: what it is for, its files by their path below ``options/NAME``, its rules.

    ``setters`` are those that the use case does not have, ``excuses`` why its pods need a lower Pod Security level.
    """

    name: str
    description: str
    files: Mapping[str, bytes]
    rules: tuple[Rule, ...] = ()
    setters: Mapping[str, Setter] = field(default_factory=dict)
    excuses: tuple[Excuse, ...] = ()


def describe(part: Part) -> str:
    """Return what the comment that begins the option's kustomization says."""
    return " ".join(comment.text.removeprefix("#").strip() for comment in part.head)


def write(part: Part, objects: Sequence[Object], idle: list[Idle] | None = None) -> dict[str, bytes]:
    """Write what an overlay does to the objects of a use case as a Component of its own; its definitions excepted.

    Nothing comes of an overlay that fits none of the objects; which of its patches do not joins ``idle``.
    """
    working = [item.copy() for item in objects]
    trace: list[Expanded] = []
    accumulate(part, working, trace, idle)
    trace.append(ranks.add(working))
    known = {item.identity for item in objects}
    added = [item for item in working if item.identity not in known]
    names = file_names(working)[-len(added) :] if added else []  # those of the use case's own files are taken
    resources = {name: layout.write(item.root) for name, item in zip(names, added, strict=True)}
    patches: dict[str, SequenceNode] = {}
    targets: dict[str, Mapping[str, str]] = {}
    for identity, operations in (pair for expanded in trace for pair in expanded if pair[0] in known):
        if not isinstance(operations, SequenceNode):
            raise InputError(operations.problem("an option cannot merge: names are its user's", "use RFC 6902"))
        target = _target(identity, objects)
        name = _file_name(target)
        targets[name] = target
        patches.setdefault(name, _empty(operations)).items += operations.items
    if not resources and not patches:
        return {}
    files = {name: layout.write(operations) for name, operations in sorted(patches.items())}
    return {**resources, **files, "kustomization.yaml": _kustomization(part, sorted(resources), targets)}


def misfit(part: Part) -> Problem:
    """Say that an overlay does nothing to a use case for which it was named."""
    file = parts.file_of(part.folder) or part.folder
    return Problem("as an option it fits no object of the use case", file=str(file), line=1)


def _target(identity: tuple[str, str, str, str], objects: Sequence[Object]) -> dict[str, str]:
    group = identity[0].rpartition("/")[0]
    alike = [item for item in objects if item.identity[1] == identity[1]]
    target = {**({"group": group} if group else {}), "kind": identity[1]}
    if len(alike) > 1:
        labels = {item.identity: item.label(COMPONENT_LABEL) for item in alike}
        if list(labels.values()).count(labels[identity]) > 1:
            message = f"several objects of kind {identity[1]} have the label {COMPONENT_LABEL}={labels[identity]}"
            raise InputError(next(item for item in alike if item.identity == identity).problem(message))
        target["labelSelector"] = f"{COMPONENT_LABEL}={labels[identity]}"
    return target


def _file_name(target: Mapping[str, str]) -> str:
    words = [parts.dashed(target["kind"]), target.get("labelSelector", "").rpartition("=")[2]]
    return "-".join(filter(None, words)) + PATCH_SUFFIX


def _empty(like: SequenceNode) -> SequenceNode:
    return SequenceNode(like.source, like.start, like.end, False, None, None)


def _kustomization(part: Part, resources: Sequence[str], targets: Mapping[str, Mapping[str, str]]) -> bytes:
    lines = [comment.text for comment in part.head]
    lines += [f"apiVersion: {parts.HEADERS['Component']}", "kind: Component"]
    lines += ["resources:", *(f"- {name}" for name in resources)] if resources else []
    lines += ["patches:"] if targets else []
    for name, target in sorted(targets.items()):
        lines += [f"- path: {name}", "  target:"]
        lines += [f"    {key}: {double_quoted(text) if '=' in text else text}" for key, text in target.items()]
    return ("\n".join(lines) + "\n").encode()
