"""Faults of how a Krmfile is written: unknown fields, fields of another type, a definition with two names.

io.k8s.cli.setters.TAG:
  x-k8s-cli: {setter: {name: TAGS, value: v1}}      a comment finds TAG, and a set looks for TAGS
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packyard.core.errors import suggest
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import implicit_type
from packyard.using.setters.comment import parse_key
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_HEADER = {"apiVersion": "config.k8s.io/v1alpha1", "kind": "Krmfile"}
#: The fields of each kind of definition, by what their values are.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "setter": {
        **dict.fromkeys(("name", "value", "setBy"), "text"),
        **dict.fromkeys(("required", "isSet"), "switch"),
        **dict.fromkeys(("listValues", "enumValues"), "any"),
    },
    "substitution": {"name": "text", "pattern": "text", "values": "any"},
}
#: The keywords of OpenAPI that say something of a value, and those that only people read.
_KEYWORDS = frozenset(
    (
        *("type", "description", "title", "format", "pattern", "enum", "default", "example", "items", "nullable"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("minItems", "maxItems", "uniqueItems", "required", "properties", "additionalProperties", "readOnly"),
        *("allOf", "anyOf", "oneOf", "not", "externalDocs", "deprecated", "writeOnly"),
    )
)
#: The types of OpenAPI.
TYPES = ("string", "integer", "number", "boolean", "array", "object")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what kustomize or packyard would pass over."""
    if parsed.krmfile is None or not parsed.krmfile.entries:
        return
    root = parsed.krmfile.root
    for name, wanted in _HEADER.items() if parsed.krmfile.source.name.endswith("Krmfile") else ():
        node = root.get(name)
        if node is None or (isinstance(node, Scalar) and node.value != wanted):
            what = f"{name} of a Krmfile is {node.value}" if isinstance(node, Scalar) else f"the Krmfile has no {name}"
            message = f"{what}: other tools and editors do not know what it is"
            yield breach("no-krmfile", node or root, message, f"{name}: {wanted}")
    for entry in parsed.krmfile.entries:
        key = parse_key(entry.name)
        if key and isinstance(entry.value, MappingNode):
            yield from _definition(entry, entry.value, key.name, key.kind)


def _definition(entry: Entry, definition: MappingNode, name: str, kind: str) -> Iterator[Finding]:
    for keyword in definition.entries:
        if keyword.name not in _KEYWORDS and not keyword.name.startswith("x-"):
            yield _unknown(keyword, f"the definition of {name}", _KEYWORDS)
        elif keyword.name == "required" and isinstance(keyword.value, Scalar):
            message = f"required of {name} must be a list: `kustomize cfg set` fails for all setters"
            yield breach("wrong-type", keyword.value, message, "put it into x-k8s-cli.setter")
        elif keyword.name in ("description", "title") and not _is_text(keyword.value):
            message = f"{keyword.name} of {name} must be text: `kustomize cfg set` fails for all setters"
            yield breach("wrong-type", keyword.value, message, "put it in quotes")
    type_node = definition.get("type")
    if isinstance(type_node, Scalar) and type_node.value not in TYPES:
        hint = suggest(type_node.value, TYPES) or f"must be one of {', '.join(TYPES)}"
        yield breach("wrong-value", type_node, f"type of {name} is {type_node.value!r}", hint)
    body = definition.mapping("x-k8s-cli", kind)
    if body is None:
        message = f"the definition of {name} is no {kind}: it has no x-k8s-cli.{kind}"
        yield breach("no-definition", entry, message, "add it, or remove the definition")
        return
    fields = _FIELDS[kind]
    for field in body.entries:
        if field.name not in fields:
            yield _unknown(field, f"{kind} {name}", fields)
        elif not _fits(field.value, fields[field.name]):
            wanted = "true or false" if fields[field.name] == "switch" else "text"
            message = f"{field.name} of {kind} {name} must be {wanted}"
            yield breach("wrong-type", field.value, message, "change the quotes")
    inner = body.text("name")
    if inner != name:
        has = f"is named {inner!r} inside" if inner else "has no name"
        place, message = body.entry("name") or entry, f"the definition of {name} {has}"
        yield breach("two-names", place, message, f"name: {name}")
    needed = ("pattern", "values") if kind == "substitution" else ("listValues" if body.get("listValues") else "value",)
    for missing in (key for key in needed if body.get(key) is None):
        message = f"{kind} {name} has no {missing}"
        yield breach("missing-field", entry, message, "add it, empty if users have to set it")


def _unknown(entry: Entry, what: str, fields: Mapping[str, str] | frozenset[str]) -> Finding:
    message = f"{what} has no field {entry.name!r}, which nothing reads"
    return breach("unknown-field", entry, message, suggest(entry.name, fields))


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and (node.style != "plain" or implicit_type(node.value) in ("string", "null"))


def _fits(node: Node, wanted: str) -> bool:
    if wanted == "any":
        return isinstance(node, MappingNode | SequenceNode)
    plain = isinstance(node, Scalar) and node.style == "plain" and implicit_type(node.value) == "boolean"
    return plain if wanted == "switch" else isinstance(node, Scalar)
