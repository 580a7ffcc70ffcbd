"""Aliases, followed: a document in which each alias is the very node that it repeats.

    metadata: &pod {labels: {app: bert}}        a["template"] is a["metadata"], with the anchor "pod"
    template: *pod

Who changes one place has to copy what is on the way to it, so that the other places stay as they are. A node keeps its
anchor wherever it goes, and `layout` writes what still is equal once.
"""

from __future__ import annotations

from packyard.errors import InputError
from packyard.text.document import check_keys, parse_text
from packyard.text.node import Alias, Collection, Document, Node, Scalar, Source
from packyard.text.sharing import once

#: A document whose aliases stand for more values than this is refused.
MAX_VALUES = 100_000


def read(source: Source) -> list[Document]:
    """Parse a text, follow its aliases, and refuse a key that stands twice; for a caller who changes no node."""
    return once(("aliases", source.name, source.text), lambda: [_followed(each) for each in parse_text(source)])


def _followed(document: Document) -> Document:
    check_keys(document)
    if document.root is not None:
        _follow(document.root, {}, {})
    return document


def _follow(node: Node, anchored: dict[str, Node], sizes: dict[int, int]) -> int:
    """Put the nodes that they repeat in the place of all aliases below a node, and return how many values it holds."""
    size = 1
    for part in node.parts if isinstance(node, Collection) else ():
        value = part.value
        if isinstance(value, Alias):
            found = anchored.get(value.anchor)
            if found is None:
                raise InputError(value.problem(f"*{value.anchor} repeats nothing: no &{value.anchor} ends before it"))
            part.comment = part.comment or value.comment
            part.value = found
            size += sizes[id(found)]
        else:
            size += _follow(value, anchored, sizes)
        if size > MAX_VALUES:
            raise InputError(value.problem(f"aliases stand for more than {MAX_VALUES} values"))
    if isinstance(node, Scalar | Collection) and node.anchor:
        anchored[node.anchor] = node
        sizes[id(node)] = size
    return size
