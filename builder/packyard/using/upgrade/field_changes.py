"""What differs between two YAML documents, field by field.

    containers:                      containers:                    containers[worker].env[DEBUG]   added
    - name: worker                   - name: worker                 containers[worker].args[1]      added
      args: [a, c]                     args: [a, b, c]
                                       env: [{name: DEBUG, value: "1"}]

Items of a list are told apart by a key that all of them have, such as their names; those of other lists are compared
where they do not match.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import zip_longest

from packyard.core.yaml import strict
from packyard.core.yaml.node import Collection, MappingNode, Node, Scalar, SequenceNode
from packyard.using.upgrade.change import Change

#: The keys by which Kubernetes merges lists; most lists have names.
_KEYS = ("mountPath", "devicePath", "containerPort", "ip", "topologyKey", "name")

_Pair = tuple[str, Node | None, Node | None]  # a step, and what it leads to before and after


def compare(old: Node | None, new: Node | None, setters: Mapping[int, str], field: Change) -> Iterator[Change]:
    """Compare two documents, or nodes of them, whose aliases were followed and whose values can be read.

    ``setters`` are the names of what sets a field, by the identity of its node; ``field`` says where that is.
    """
    was, now = setters.get(id(old)), setters.get(id(new))
    setter = setters.get(id(new or old), "")
    if old is None or new is None:
        change, values = "removed" if old else "added", [node and strict.to_value(node) for node in (old, new)]
        yield replace(field, change=change, before=values[0], after=values[1], setter=setter)
        return
    if was != now:
        yield replace(field, change="bound", before=was, after=now, setter=setter)
    pairs: Iterator[_Pair]
    if isinstance(old, MappingNode) and isinstance(new, MappingNode):
        pairs = _entries(old, new)
    elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
        old_items, new_items = next(filter(all, ((_by_key(old, key), _by_key(new, key)) for key in _KEYS)), ({}, {}))
        before = [name for name in old_items if name in new_items]
        after = [name for name in new_items if name in old_items]
        if before != after:
            yield replace(field, change="reordered", before=before, after=after)
        named = ((f"[{name}]", old_items.get(name), new_items.get(name)) for name in {**old_items, **new_items})
        pairs = named if old_items else _items(old, new)
    else:
        if _text(old) != _text(new):
            yield replace(field, before=strict.to_value(old), after=strict.to_value(new), setter=setter)
        return
    for step, before_node, after_node in pairs:
        below = replace(field, path=f"{field.path}{step}".removeprefix("."))
        yield from compare(before_node, after_node, setters, below)


def _entries(old: MappingNode, new: MappingNode) -> Iterator[_Pair]:
    for name in dict.fromkeys(entry.name for entry in (*old.entries, *new.entries)):
        yield f"[{name}]" if "." in name or "[" in name else f".{name}", old.get(name), new.get(name)


def _by_key(node: SequenceNode, key: str) -> dict[str, Node]:
    """Return the items of a list by the text of a key; nothing where they have none, or share one."""
    values = [item.value for item in node.items]
    names = [value.get(key) if isinstance(value, MappingNode) else None for value in values]
    by_name = {name.value: value for name, value in zip(names, values, strict=True) if isinstance(name, Scalar)}
    return by_name if len(by_name) == len(values) else {}


def _items(old: SequenceNode, new: SequenceNode) -> Iterator[_Pair]:
    """Pair the items of two lists that have no key; what one of them has more is removed, or added."""
    old_items, new_items = ([item.value for item in node.items] for node in (old, new))
    matcher = SequenceMatcher(None, [*map(_text, old_items)], [*map(_text, new_items)])
    for _, start, end, first, last in matcher.get_opcodes():
        pairs = zip_longest(old_items[start:end], new_items[first:last])
        yield from ((f"[{place}]", before, after) for place, (before, after) in enumerate(pairs, start=first))


def _text(node: Node) -> str:
    """Return a text that two nodes share if they have the same value of the same type."""
    if isinstance(node, Collection):
        return json.dumps(strict.to_value(node), sort_keys=True)
    return json.dumps(strict.read_scalar(node)) if isinstance(node, Scalar) else node.lexeme
