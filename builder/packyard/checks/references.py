"""References to the ConfigMaps and ServiceAccounts that a package brings, or should.

Secrets and claims are what the cluster has to offer: requirements, not faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.checks.finding import Finding, error, warning
from packyard.checks.parsed import Parsed
from packyard.errors import InputError, suggest
from packyard.setters.comment import Reference as Definition
from packyard.setters.definition import Definitions
from packyard.text.document import walk
from packyard.text.node import Entry, Scalar
from packyard.text.node import Mapping as MappingNode

#: Fields that hold the ``name`` of an object, and its kind.
_HOLDERS = {
    "configMapRef": "ConfigMap",
    "configMapKeyRef": "ConfigMap",
    "secretRef": "Secret",
    "secretKeyRef": "Secret",
    "configMap": "ConfigMap",
}
_ACCOUNT = "serviceAccountName"
#: What every namespace has.
_ALWAYS = ("kube-root-ca.crt", "default")
#: Kinds whose fields only look like references.
_OPAQUE = ("ConfigMap", "Secret", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class _Reference:
    """A field that names an object, by the kind of the object and the node of the name."""

    kind: str
    name: Scalar
    optional: bool = False


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find references that lead nowhere, or that a set leaves behind."""
    definitions = parsed.krmfile.definitions if parsed.krmfile else Definitions()
    bound = {id(binding.node): _setters(binding.reference, definitions) for binding in parsed.bound}
    own = _names(parsed)
    for root in parsed.objects:
        if root.text("kind") in _OPAQUE:
            continue
        for entry in _entries(root):
            reference = _read(entry)
            if isinstance(reference, Finding):
                yield reference
            elif reference is not None and reference.kind in ("ConfigMap", "ServiceAccount"):
                target = own.get(reference.kind, {}).get(reference.name.value)
                if target is not None:
                    yield from _left_behind(reference, target, bound)
                elif parsed.complete and not reference.optional and reference.name.value not in _ALWAYS:
                    yield _dangling(reference, own.get(reference.kind, {}))


def _setters(reference: Definition, definitions: Definitions) -> frozenset[str]:
    """Return what a field changes with: the setters that its comment leads to."""
    definition = definitions.resolve(reference)
    try:
        return definitions.setters_of(definition) if definition else frozenset()
    except InputError:
        return frozenset()


def _names(parsed: Parsed) -> dict[str, dict[str, Scalar]]:
    """Return the names of the package's objects by kind."""
    found: dict[str, dict[str, Scalar]] = {}
    for root in parsed.objects:
        metadata = root.mapping("metadata")
        name = metadata.get("name") if metadata else None
        if isinstance(name, Scalar):
            found.setdefault(root.text("kind"), {})[name.value] = name
    return found


def _entries(root: MappingNode) -> Iterator[Entry]:
    for node in walk(root):
        if isinstance(node, MappingNode):
            yield from node.entries


def _read(entry: Entry) -> _Reference | Finding | None:
    value = entry.value
    if entry.name == _ACCOUNT:
        return _Reference("ServiceAccount", value) if isinstance(value, Scalar) and value.value else None
    kind = _HOLDERS.get(entry.name)
    if kind is None:
        return None
    name = value.get("name") if isinstance(value, MappingNode) else None
    if isinstance(name, Scalar) and name.value:
        assert isinstance(value, MappingNode)
        templated = "{{" in name.value or "$(" in name.value
        return _Reference(kind, name, optional=templated or value.text("optional") == "true")
    if entry.name == "configMap" or not isinstance(value, MappingNode | Scalar):
        return None
    message = f"{entry.name} names no {kind}: nothing is read from it"
    return error("empty-reference", entry.key.source, entry.start, message, "its name belongs below, indented deeper")


def _left_behind(reference: _Reference, target: Scalar, bound: Mapping[int, frozenset[str]]) -> Iterator[Finding]:
    """Find a name and its reference that do not change together."""
    name, there, here = reference.name, bound.get(id(target), frozenset()), bound.get(id(reference.name), frozenset())
    if there == here:
        return
    what = f"{reference.kind} {name.value!r}"
    if there - here:
        message = f"the name of {what} changes with {', '.join(sorted(there))}, and this reference to it does not"
        hint = "give it the comment that the name has"
    else:
        message = f"this reference to {what} changes with {', '.join(sorted(here))}, and the name does not"
        hint = "give the name the comment that this has"
    yield error("reference-left-behind", name.source, name.start, message, hint)


def _dangling(reference: _Reference, own: Mapping[str, Scalar]) -> Finding:
    name = reference.name
    message = f"{reference.kind} {name.value!r} is not in the package"
    if own:
        hint = suggest(name.value, own) or f"there is {', '.join(sorted(own))}"
        return error("dangling-reference", name.source, name.start, message, hint)
    return warning("dangling-reference", name.source, name.start, message, "ship it, or say that the cluster has it")
