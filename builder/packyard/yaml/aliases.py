"""Aliases, followed: a document in which each stands aside for the very node that it repeats.

    metadata: &pod {labels: {app: bert}}        the metadata of both templates are one node, with one place in the text
    ...
    metadata: *pod

Merge keys stay as they are. A node keeps its anchor; who changes one place has to copy what is on the way to it.
"""

from __future__ import annotations

from packyard.errors import InputError
from packyard.yaml.document import check_keys, parse_text
from packyard.yaml.node import Alias, Collection, Document, Node, Scalar, Source
from packyard.yaml.sharing import once

#: A document whose aliases stand for more values than this is refused.
MAX_VALUES = 250_000


def read(source: Source) -> list[Document]:
    """Parse a text, follow its aliases, and refuse a key that stands twice; for a caller who changes no node."""
    return once(("aliases", source.name, source.text), lambda: [_followed(each) for each in parse_text(source)])


def follow(document: Document) -> None:
    """Put anchored nodes in the place of the aliases of a document, which is changed.

    Refuses an alias without an anchor before it, one inside of what it repeats, and aliases of very many values.
    """
    if document.root is not None:
        document.root, _ = _Anchors().follow(document.root)


def _followed(document: Document) -> Document:
    check_keys(document)
    follow(document)
    return document


class _Anchors:
    """The anchored nodes of a document as far as it was read, each with the number of its values."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Node, int]] = {}
        self._open: list[str] = []

    def follow(self, node: Node) -> tuple[Node, int]:
        """Return what stands for a node, and the number of values in it."""
        if isinstance(node, Alias):
            if node.anchor in self._open:
                raise InputError(node.problem(f"{node.lexeme} stands inside of what it repeats"))
            if node.anchor not in self._found:
                hint = f"mark what it repeats with &{node.anchor}, or write it out"
                raise InputError(node.problem(f"{node.lexeme} refers to nothing before it", hint))
            return self._found[node.anchor]
        anchor = node.anchor if isinstance(node, Scalar | Collection) else None
        size = 1
        if isinstance(node, Collection):
            self._open += [anchor] if anchor else []
            for child in node.children:
                child.comment = child.comment or (child.value.comment if isinstance(child.value, Alias) else None)
                child.value, inner = self.follow(child.value)
                size += inner
            if anchor:
                self._open.pop()
        if size > MAX_VALUES:
            raise InputError(node.problem(f"its aliases stand for more than {MAX_VALUES} values"))
        if anchor:
            self._found[anchor] = node, size
        return node, size
