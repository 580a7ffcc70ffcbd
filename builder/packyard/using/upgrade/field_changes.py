"""What differs between two YAML documents, field by field.

    containers:                      containers:                    containers[worker].env[DEBUG]   added
    - name: worker                   - name: worker                 containers[worker].args[1]      added
      args: [a, c]                     args: [a, b, c]
                                       env: [{name: DEBUG, value: "1"}]

Items of a list are told apart by the key by which Kubernetes merges them, or by their names; other lists are aligned,
so that an item in their middle is one difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.fieldtypes import Step, merge_keys
from packyard.core.yaml import strict
from packyard.core.yaml.node import Collection, MappingNode, Node, Scalar, SequenceNode

_MOST_WORK = (
    20_000_000  # steps that aligning the lists of one document may take; then items are compared by their places
)
_POD = ("v1", "Pod")

_Pair = tuple[str, Node | None, Node | None]  # a step, and what it leads to before and after


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs. ``change`` is added, removed, changed, reordered or bound; ``setter`` is what sets it now.

    Of a list that is ``reordered`` the values are the names of its items, of a field that is ``bound`` those of what
    sets it.
    """

    path: str
    change: str
    before: object = None
    after: object = None
    setter: str = ""


def compare(before: Node, after: Node, setters: Mapping[int, str]) -> list[FieldDifference]:
    """Compare two documents whose aliases were followed and whose values can be read.

    ``setters`` are the names of what sets a field, by the identity of its node.
    """
    return list(_Comparison(before, after, setters).nodes(before, after, "", ("", ""), ()))


class _Comparison:
    def __init__(self, before: Node, after: Node, setters: Mapping[int, str]) -> None:
        self._setters = setters
        self._left = _MOST_WORK
        self._told: set[tuple[int, int]] = set()
        roots = [root for root in (before, after) if isinstance(root, MappingNode)]
        self._pods = {id(pod.spec) for pod in pods.find_all(roots)}

    def nodes(
        self, old: Node, new: Node, path: str, kind: tuple[str, str], steps: tuple[Step, ...]
    ) -> Iterator[FieldDifference]:
        """Compare two nodes; ``steps`` lead to them in an object of a kind, a pod's inside of another one's.

        What both documents repeat by an alias is compared where it stands first.
        """
        if (id(old), id(new)) in self._told:
            return
        self._told.add((id(old), id(new)))
        if not steps and isinstance(new, MappingNode):
            kind = new.text("apiVersion"), new.text("kind")
        if id(old) in self._pods and id(new) in self._pods:
            kind, steps = _POD, ("spec",)
        yield from self._binding(old, new, path)
        pairs: Iterator[_Pair]
        if isinstance(old, MappingNode) and isinstance(new, MappingNode):
            pairs = _entries(old, new)
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            key = _item_key(old, new, merge_keys(*kind, steps) or ())
            pairs = _named(old, new, key) if key else self._aligned(old, new)
            yield from _reordered(old, new, key, path)
        else:
            if _text(old) != _text(new):
                yield self._difference(path, "changed", old, new)
            return
        for step, one, other in pairs:
            inner = f"{path}{step}" if path else step.removeprefix(".")
            if one is None or other is None:
                yield self._difference(inner, "added" if one is None else "removed", one, other)
            else:
                at: Step = 0 if isinstance(new, SequenceNode) else step.removeprefix(".")
                yield from self.nodes(one, other, inner, kind, (*steps, at))

    def _difference(self, path: str, change: str, old: Node | None, new: Node | None) -> FieldDifference:
        before, after = (None if node is None else strict.to_value(node) for node in (old, new))
        return FieldDifference(path, change, before, after, self._setters.get(id(new or old), ""))

    def _binding(self, old: Node, new: Node, path: str) -> Iterator[FieldDifference]:
        one, other = (self._setters.get(id(node)) for node in (old, new))
        if one != other:
            yield FieldDifference(path, "bound", one, other, other or "")

    def _aligned(self, old: SequenceNode, new: SequenceNode) -> Iterator[_Pair]:
        """Pair the items of two lists that have no key."""
        one, other = ([item.value for item in node.items] for node in (old, new))
        before, after = ([*map(_text, nodes)] for nodes in (one, other))
        start = _alike(before, after)
        end = -_alike(before[start:][::-1], after[start:][::-1]) or None
        before, after = before[start:end], after[start:end]
        yield from _pairs(one[:start], other[:start], 0, 0)
        for first, last, begin, stop in self._stretches(before, after):
            yield from _pairs(one[start:end][first:last], other[start:end][begin:stop], start + first, start + begin)
        if end:
            yield from _pairs(one[end:], other[end:], len(one) + end, len(other) + end)

    def _stretches(self, before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
        """Yield where stretches that belong together begin and end; lists that would take long to align are one."""
        work = len(before) * len(after) * min(len(before), len(after))
        if work > self._left:
            yield 0, len(before), 0, len(after)
            return
        self._left -= work
        yield from (each[1:] for each in SequenceMatcher(None, before, after, autojunk=False).get_opcodes())


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many items alike two lists begin."""
    both = zip(one, other, strict=False)
    return next((place for place, (each, same) in enumerate(both) if each != same), min(len(one), len(other)))


def _pairs(old: Sequence[Node], new: Sequence[Node], start: int, begin: int) -> Iterator[_Pair]:
    """Pair two stretches item by item; what one of them has more is removed, or added."""
    for place in range(max(len(old), len(new))):
        one, other = (nodes[place] if place < len(nodes) else None for nodes in (old, new))
        yield f"[{(start if other is None else begin) + place}]", one, other


def _entries(old: MappingNode, new: MappingNode) -> Iterator[_Pair]:
    for entry in old.entries:
        yield _step(entry.name), entry.value, new.get(entry.name)
    for entry in new.entries:
        if old.entry(entry.name) is None:
            yield _step(entry.name), None, entry.value


def _step(name: str) -> str:
    return f"[{name}]" if "." in name or "[" in name else f".{name}"


def _item_key(old: SequenceNode, new: SequenceNode, known: Sequence[str]) -> str:
    """Return the key that tells the items of both lists apart, or an empty text."""
    return next((key for key in (*known, "name") if all(_keys(node, key) is not None for node in (old, new))), "")


def _keys(node: SequenceNode, key: str) -> dict[str, Node] | None:
    """Return the items of a list by the text of a key; None where they have none, or share one."""
    by_name: dict[str, Node] = {}
    for item in node.items:
        name = item.value.get(key) if isinstance(item.value, MappingNode) else None
        if not isinstance(name, Scalar) or name.value in by_name:
            return None
        by_name[name.value] = item.value
    return by_name


def _named(old: SequenceNode, new: SequenceNode, key: str) -> Iterator[_Pair]:
    one, other = _keys(old, key) or {}, _keys(new, key) or {}
    for name in {**one, **other}:
        yield f"[{name}]", one.get(name), other.get(name)


def _reordered(old: SequenceNode, new: SequenceNode, key: str, path: str) -> Iterator[FieldDifference]:
    if key:
        one, other = _keys(old, key) or {}, _keys(new, key) or {}
        before, after = [name for name in one if name in other], [name for name in other if name in one]
        if before != after:
            yield FieldDifference(path, "reordered", before, after)


def _text(node: Node) -> str:
    """Return a text that two nodes share if they have the same value of the same type."""
    if isinstance(node, Collection):
        return json.dumps(strict.to_value(node), sort_keys=True)
    return json.dumps(strict.read_scalar(node)) if isinstance(node, Scalar) else node.lexeme
