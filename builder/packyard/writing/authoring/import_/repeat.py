"""What repeats in an object, written once: as our authors do, by an anchor that says the key.

template: {spec: {volumes: […]}}          volumes: &volumes
                                          - name: data …
template: {spec: {volumes: […]}}    ->    volumes: *volumes
"""

from __future__ import annotations

import re

from packyard.core.yaml import layout, make
from packyard.core.yaml.node import Alias, Child, Collection, Entry, MappingNode, Node

_NO_NAME = re.compile(r"[^0-9A-Za-z_-]")  # by kustomize, which reads no other signs
_LEAST = 3  # lines, the key's among them


def once(root: MappingNode) -> MappingNode:
    """Return an object with an alias for each mapping or list of several lines that stands in it before."""
    seen: set[str] = set()
    repeated: set[str] = set()
    _find(root, seen, repeated)
    written = _written(root, repeated, {})
    assert isinstance(written, MappingNode)
    return written


def _find(node: Collection, seen: set[str], repeated: set[str]) -> None:
    for child in node.children:
        text = _text(child)
        if text and text in seen:
            repeated.add(text)
            continue
        seen.add(text)
        if isinstance(child.value, Collection):
            _find(child.value, seen, repeated)


def _written(node: Collection, repeated: set[str], names: dict[str, str]) -> Node:
    copied = make.copy(node)
    for child in copied.children:
        text = _text(child)
        if text in names:
            child.value = Alias(child.value.source, child.value.start, child.value.end, names[text])
        elif isinstance(child.value, Collection):
            if text in repeated:
                names[text] = _free(child.name, names)
            child.value = _written(child.value, repeated, names)
            child.value.anchor = names.get(text)
    return copied


def _text(child: Child) -> str:
    """Return what an entry's value is written like, comments included; an empty text for what is not worth a name."""
    if not isinstance(child, Entry) or not isinstance(child.value, Collection) or child.comment:
        return ""
    lines = list(layout.lines([make.entry("", child.value)]))
    return "\n".join(lines) if len(lines) >= _LEAST else ""


def _free(key: str, names: dict[str, str]) -> str:
    used = set(names.values())
    key = _NO_NAME.sub("-", key) or "same"
    numbered = (key if number == 1 else f"{key}-{number}" for number in range(1, len(used) + 2))
    return next(name for name in numbered if name not in used)
