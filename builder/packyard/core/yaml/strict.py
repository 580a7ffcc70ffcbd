"""The values of nodes, as `kustomize build` reads them: ``yes`` is text, ``012`` is 10.

The rules are those of the yaml.v3 that kustomize links, and of the JSON that its values go through. What it refuses, or
what packyard does not read as it does, is refused by file and line. Aliases have to be followed before.
"""

import math
import re
from copy import deepcopy

from packyard.core.errors import BeyondError, InputError
from packyard.core.yaml.node import Collection, Entry, MappingNode, Node, Scalar
from packyard.core.yaml.values import implicit_type, is_merge, merged, scalar_value

#: What one scalar can be.
Plain = str | int | float | bool | None
#: What a node can be: a scalar, a list, or a mapping by text.
Value = Plain | list["Value"] | dict[str, "Value"]

#: What kustomize cannot read back, or reads back as something else.
_REFUSED = re.compile("[\x7f-\x9f\ufffe\uffff]")
#: A time that kustomize writes out as it stands.
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")


def to_value(root: Node) -> Value:
    """Return the value of a node; every place that repeats a node gets a value of its own."""
    return _read(root, {}, flow=False)


def _read(node: Node, anchored: dict[int, Value], *, flow: bool) -> Value:
    """Read a node of a document; an anchored one is read where its anchor stands."""
    if not isinstance(node, Scalar | Collection):
        raise InputError(node.problem(f"{node.lexeme} refers to nothing before it"))
    if id(node) in anchored:
        return deepcopy(anchored[id(node)])
    value: Value
    if isinstance(node, Scalar):
        value = read_scalar(node, flow=flow)
    elif node.tag is not None:
        raise InputError(node.problem(f"a collection of type {node.tag!r} cannot be read"))
    elif isinstance(node, MappingNode):
        value = _mapping(node, anchored, flow=flow or node.flow)
    else:
        value = [_read(item.value, anchored, flow=flow or node.flow) for item in node.children]
    if node.anchor:
        anchored[id(node)] = value
    return value


def _mapping(node: MappingNode, anchored: dict[int, Value], *, flow: bool) -> dict[str, Value]:
    value: dict[str, Value] = {}
    inherited: list[Value] = []
    for entry in node.entries:
        inner = _read(entry.value, anchored, flow=flow)
        if is_merge(entry):
            inherited += inner if isinstance(inner, list) else [inner]
        else:
            value[_key(entry)] = inner
    if not all(isinstance(merged, dict) for merged in inherited):
        raise InputError(node.problem("a merge key takes mappings"))
    return merged(value, inherited)


def _key(entry: Entry) -> str:
    """Return a key, which has to be text."""
    key = entry.key
    if isinstance(key, Scalar):
        quoted = key.style != "plain" and key.value != "<<"
        if quoted or implicit_type(key.value) == "string":
            read_scalar(key)  # which refuses characters and tags
            return key.value
    raise InputError(key.problem(f"the key {key.lexeme!r} must be text", "put it in quotes"))


def read_scalar(node: Scalar, *, flow: bool = False) -> Plain:
    """Return the value of a scalar; numbers that JSON cannot hold, and tags of others, are refused.

    Inside brackets (``flow``) a missing value is an empty text and a time of day stays as it is written, because
    kustomize writes such documents out, in quotes, and reads them again.
    """
    if node.tag not in (None, "!", "tag:yaml.org,2002:str"):
        raise BeyondError(node.problem(f"{node.lexeme!r} has a tag that only kustomize reads", "write it without"))
    plain = node.tag == "!" or (node.tag is None and node.style == "plain")
    if flow and plain and (not node.value or ":" in node.value):
        plain = False
    if plain and implicit_type(node.value) == "timestamp" and not _TIME.match(node.value):
        raise BeyondError(node.problem(f"kustomize writes {node.value} as a time", "put it in quotes"))
    value = read_plain(node.value) if plain else node.value
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(node.problem(f"{node.lexeme!r} cannot be given to a cluster as a number"))
    refused = _REFUSED.search(value) if isinstance(value, str) else None
    if refused:
        raise InputError(node.problem(f"holds the control character U+{ord(refused.group()):04X}"))
    return value


def read_plain(text: str) -> Plain:
    """Return the value of text that stands without quotes."""
    value = scalar_value(text)
    if isinstance(value, float) and value.is_integer() and abs(value) < (1 << 63) and repr(value) != "-0.0":
        return int(value)
    assert isinstance(value, Plain)
    return value
