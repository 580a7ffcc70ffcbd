"""Creating setters of version 1: a comment with the whole definition behind each field that shows the value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from packyard.core.errors import InputError
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Child, Document, Entry, Scalar, SequenceNode
from packyard.core.yaml.proof import rewrite
from packyard.using.setters.inline import InlineDefinition, parse
from packyard.writing.authoring import place
from packyard.writing.authoring.annotate import Selection
from packyard.writing.authoring.create import NewSetter


def creation(new: NewSetter, selection: Selection, *, partial: bool) -> Callable[[bytes, str], bytes]:
    """Return what adds the comments of a new setter to the documents of a file that a selection holds.

    A setter that a field has already is replaced. A ``partial`` one stands for its value wherever a text holds it.
    """

    def bind(document: Document) -> Iterator[Edit]:
        for child, key in _fields(document) if selection.holds(document.root) else ():
            if isinstance(child.value, Scalar) and new.field in ("", key):
                text = child.value.value
                if new.value in text if partial else new.value == text:
                    yield from _bind(new, child, child.value, partial)

    return lambda data, name: rewrite(data, name, bind) if new.value.encode() in data else data


def _bind(new: NewSetter, child: Child, scalar: Scalar, partial: bool) -> list[Edit]:
    if scalar.style in "|>":
        raise InputError(f"{scalar.place}: a block scalar can have no setter of version 1")
    old = parse(scalar.comment.text) if partial and scalar.comment else None
    definition = old or InlineDefinition({})
    definition.type = new.type
    definition.description = new.description or definition.description
    definition.set_by = new.set_by or definition.set_by
    if partial:
        definition.record(new.name, new.value)
    else:
        definition.whole = (new.name, new.value)
    return place.bind(child, definition.text())


def _fields(document: Document) -> Iterator[tuple[Child, str]]:
    """Yield entries, and items of lists, with the key that they stand under."""
    for entry in (entry for node in walk(document.root) for entry in entries(node)):
        yield entry, entry.name
        if isinstance(entry.value, SequenceNode):
            yield from _items(entry.value, entry)


def _items(node: SequenceNode, entry: Entry) -> Iterator[tuple[Child, str]]:
    for item in node.items:
        yield item, entry.name
        if isinstance(item.value, SequenceNode):
            yield from _items(item.value, entry)
