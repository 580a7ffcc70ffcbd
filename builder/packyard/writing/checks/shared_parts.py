"""Faults of the parts that packages are made of: blocks with the same anchor that differ, parts without a description.

A base is the manifest that users will read, so each has its pods in full; what all pods have in common has the same
anchor in all of them::

    securityContext: &confined          in bases/single-node/job.yaml
    securityContext: &confined          in bases/mpi-job/mpi-job.yaml: must be the same

Values and setter comments are compared, other comments are not. One block may have more labels and annotations than the
other, and more items with names of their own in a list. Anchors of single values are not compared.

Each overlay has to begin with a comment, because the comment of a storage says why it lowers the Pod Security level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.yaml import aliases
from packyard.core.yaml.document import parse_file, walk
from packyard.core.yaml.node import Child, Collection, Document, MappingNode, Node, Scalar, Source
from packyard.using.setters.comment import parse
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import findings

#: The setter that changes a value, and the value.
_Value = tuple[str, object]
#: Mappings in which one block may have more than another.
_OPEN = ("labels", "annotations")


@dataclass(frozen=True, slots=True)
class _Block:
    """An anchored node, and the value by which it is compared."""

    node: Scalar | Collection
    value: _Value


def check(bases: Mapping[str, bytes], overlays: Mapping[str, bytes]) -> Iterator[Finding]:
    """Find what is wrong with parts: ``bases`` are their YAML files, ``overlays`` the kustomizations of overlays."""
    blocks: dict[str, list[_Block]] = {}
    for name in sorted(bases):
        try:
            documents = parse_file(bases[name], name)
            for document in documents:
                aliases.follow(document)
        except InputError as fault:
            yield from findings(fault)
            continue
        yield from _compared(documents, blocks)
    for name in sorted(overlays):
        if not overlays[name].startswith(b"# "):
            message = "this overlay has no description"
            hint = "begin the file with a comment, which also says why a lower Pod Security level is needed, if it is"
            yield breach("says-nothing", (Source(name, ""), 0), message, hint)


def _compared(documents: list[Document], blocks: dict[str, list[_Block]]) -> Iterator[Finding]:
    met: set[int] = set()
    for node in (node for document in documents for node in walk(document.root)):
        if not isinstance(node, Scalar | Collection) or not node.anchor or id(node) in met:
            continue
        met.add(id(node))
        block = _Block(node, _value(node, None))
        first = blocks.setdefault(node.anchor, [block])[0]
        if not isinstance(node, Scalar) and not _agree(first.value, block.value, is_open=node.anchor in _OPEN):
            place = f"{first.node.source.name}:{first.node.source.locate(first.node.start)[0]}"
            message = f"&{node.anchor} differs from &{node.anchor} in {place}"
            yield breach("anchors-differ", node, message, "make them equal, or rename one")


def _value(node: Node, part: Child | None) -> _Value:
    """Return the value by which a node is compared: its text, and the setter that changes it."""
    comment = node.comment or (part.comment if part else None)
    reference = parse(comment.text) if comment else None
    name = reference.name if reference else ""
    if isinstance(node, MappingNode):
        return name, {entry.name: _value(entry.value, entry) for entry in node.entries}
    if isinstance(node, Collection):
        return name, [_value(item.value, item) for item in node.children]
    assert isinstance(node, Scalar)
    return name, (node.style == "plain", node.value)


def _agree(one: _Value, other: _Value, *, is_open: bool = False) -> bool:
    """Say whether two blocks are equal as far as they have to be."""
    first, second = one[1], other[1]
    if isinstance(first, dict) and isinstance(second, dict):
        both = first.keys() & second.keys()
        is_complete = is_open or first.keys() == second.keys()
        return is_complete and all(_agree(first[key], second[key], is_open=key in _OPEN) for key in both)
    if isinstance(first, list) and isinstance(second, list) and one[0] == other[0]:
        mine, theirs = _by_name(first), _by_name(second)
        if mine and theirs:
            return all(_agree(mine[key], theirs[key]) for key in mine.keys() & theirs.keys())
        return len(first) == len(second) and all(map(_agree, first, second))
    return one == other


def _by_name(items: list[_Value]) -> dict[str, _Value]:
    """Return items by their name and path; nothing where an item has no name."""
    by_name = {}
    for item in items:
        fields = item[1] if isinstance(item[1], dict) else {}
        if "name" not in fields:
            return {}
        by_name[repr([fields.get(key) for key in ("name", "mountPath")])] = item
    return by_name
