"""Faults of how a Krmfile is written: unknown fields, fields of another type, a definition with two names.

io.k8s.cli.setters.TAG:
  x-k8s-cli: {setter: {name: TAGS, value: v1}}      a comment finds TAG, and a set looks for TAGS

What fields a definition has, and of what type, is in ``krmfile_schema.json``: the keywords of OpenAPI that say
something of a value, those that only people read, and those of kustomize.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packyard.core.kubernetes.schemas import Definitions, Judge
from packyard.core.yaml.node import Entry, MappingNode, Scalar
from packyard.core.yaml.values import nearest, to_value
from packyard.using.setters.comment import parse_key
from packyard.using.setters.krmfile import two_names
from packyard.writing.checks.finding import Finding, breach, finding
from packyard.writing.checks.subject import Subject

_HEADER = {"apiVersion": "config.k8s.io/v1alpha1", "kind": "Krmfile"}
#: What stops kustomize where it has another type.
_BREAKING = ("required", "description", "title")


def check(subject: Subject) -> Iterator[Finding]:
    """Find what kustomize or packyard would pass over."""
    if subject.krmfile is None or not subject.krmfile.entries:
        return
    root = subject.krmfile.root
    for name, wanted in _HEADER.items() if subject.krmfile.source.name.endswith("Krmfile") else ():
        node = root.get(name)
        if node is None or (isinstance(node, Scalar) and node.value != wanted):
            what = f"{name} of a Krmfile is {node.value}" if isinstance(node, Scalar) else f"the Krmfile has no {name}"
            message = f"{what}: other tools and editors do not know what it is"
            yield breach("no-krmfile", node or root, message, f"{name}: {wanted}")
    for entry in subject.krmfile.entries:
        key = parse_key(entry.name)
        if key and isinstance(entry.value, MappingNode):
            yield from _fields(entry.value, key.name, key.kind)
            yield from _definition(entry, entry.value, key.name, key.kind)


@cache
def _judge() -> Judge:
    return Judge("", "", {}, Definitions(json.loads(Path(__file__).with_name("krmfile_schema.json").read_bytes())), {})


def _fields(definition: MappingNode, name: str, kind: str) -> Iterator[Finding]:
    for fault in _judge().faults(kind, to_value(definition), "the definition"):
        field, hint = fault.field or str(fault.path[0]), fault.hint
        if field.startswith("x-") and fault.field:  # an extension, which OpenAPI leaves to whoever reads it
            continue
        entry, node = nearest(definition, (*fault.path, fault.field) if fault.field else fault.path)
        message = f"{name}: {fault.message}" + (", which nothing reads" if fault.field else "")
        if field in _BREAKING and len(fault.path) == 1:
            message += ": `kustomize cfg set` fails for all setters"
            hint = "put it into x-k8s-cli.setter" if field == "required" else hint
        yield breach(fault.rule, (entry if fault.field else None) or node, message, hint)


def _definition(entry: Entry, definition: MappingNode, name: str, kind: str) -> Iterator[Finding]:
    body = definition.mapping("x-k8s-cli", kind)
    if body is None:
        message = f"the definition of {name} is no {kind}: it has no x-k8s-cli.{kind}"
        yield breach("no-definition", entry, message, "add it, or remove the definition")
        return
    if problem := two_names(name, body):
        yield finding("two-names", problem)
    elif not body.text("name"):
        yield breach("two-names", body.entry("name") or entry, f"the definition of {name} has no name", f"name: {name}")
    needed = ("pattern", "values") if kind == "substitution" else ("listValues" if body.get("listValues") else "value",)
    for missing in (key for key in needed if body.get(key) is None):
        message = f"{kind} {name} has no {missing}"
        yield breach("missing-field", entry, message, "add it, empty if users have to set it")
