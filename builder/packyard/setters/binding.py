"""Which fields of a document are bound by a setter comment.

The places are those where kustomize 3.8.7 honors one:

    a: 1 # C                behind a scalar            # C
    - a # C                                            b: 1       alone above a key, or above a list item
    l: [a, b] # C           every element              l: # C
    {a: 1, # C                                         - a        the list, behind its key or above it

A comment behind a value wins over one above it. Two comment lines, or a blank line below the comment, bind nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.dataclass import dataclass
from packyard.kubernetes.fieldtypes import Step
from packyard.setters.comment import DefinitionRef, parse
from packyard.yaml.node import Child, Comment, Document, Entry, Item, MappingNode, Node, Scalar, SequenceNode, Source


@dataclass(frozen=True, slots=True)
class Binding:
    """A field, and the reference of the comment that binds it."""

    node: Scalar | SequenceNode
    path: tuple[Step, ...]
    reference: DefinitionRef
    comment: Comment
    flow: bool  # whether the field stands inside brackets
    from_key: bool  # whether the comment belongs to the key, not to the value
    part: Child  # what the field is the value of


def find(document: Document) -> list[Binding]:
    """Return every bound field of a document in the order of the text."""
    return list(_find(document.root, (), False)) if document.root else []


def path_text(path: tuple[Step, ...]) -> str:
    """Write a path as people do: ``spec.containers[0].image``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _find(node: Node, path: tuple[Step, ...], flow: bool) -> Iterator[Binding]:
    if isinstance(node, MappingNode):
        for entry in node.entries:
            yield from _of_part(entry, (*path, entry.name), node.flow or flow)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _of_part(item, (*path, item.index), node.flow or flow)


def _of_part(part: Child, path: tuple[Step, ...], flow: bool) -> Iterator[Binding]:
    value = part.value
    behind = _bound(value.comment)
    above = _bound(_alone_above(part))
    if isinstance(value, Scalar):
        chosen = behind or (above if isinstance(part, Entry) or value.comment is None else None)
        if chosen:
            yield Binding(value, path, *chosen, flow, chosen is not behind, part)
        return
    if isinstance(value, SequenceNode):
        chosen = (_bound(part.comment) if part.comment else above) or (behind if value.flow else None)
        if chosen and isinstance(part, Entry):
            yield Binding(value, path, *chosen, flow, True, part)
        if behind and value.flow:
            for item in value.items:
                if isinstance(item.value, Scalar) and item.value.comment is None:
                    yield Binding(item.value, (*path, item.index), *behind, True, False, item)
    if isinstance(part, Item) and above:
        yield from _first_in(value, path, above, flow)
    yield from _find(value, path, flow)


def _first_in(
    value: Node, path: tuple[Step, ...], above: tuple[DefinitionRef, Comment], flow: bool
) -> Iterator[Binding]:
    """Bind what begins an item by the comment above the item: the first key's value, or the first item of its list."""
    if isinstance(value, MappingNode) and value.entries:
        first: Child = value.entries[0]
        step: Step = value.entries[0].name
    elif isinstance(value, SequenceNode) and value.items:
        first, step = value.items[0], 0
    else:
        return
    if isinstance(first.value, SequenceNode) and isinstance(first, Entry) and first.comment is None:
        yield Binding(first.value, (*path, step), *above, flow, True, first)
    if isinstance(first.value, Scalar) and _bound(first.value.comment) is None:
        yield Binding(first.value, (*path, step), *above, flow, True, first)


def _bound(comment: Comment | None) -> tuple[DefinitionRef, Comment] | None:
    reference = parse(comment.text) if comment else None
    return (reference, comment) if reference and comment else None


def _alone_above(part: Child) -> Comment | None:
    """Return the comment on the line above (behind the dash, for an item), if it is one line."""
    if not part.head:
        return None
    comment = part.head[-1]
    source: Source = part.value.source
    if source.locate(part.start)[0] != source.locate(comment.start)[0] + 1:
        return None
    if len(part.head) > 1 and source.locate(part.head[-2].start)[0] == source.locate(comment.start)[0] - 1:
        return None
    return comment
