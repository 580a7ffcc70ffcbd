"""Annotations added to documents, or replaced in them, by splices.

    metadata:                      metadata:
      name: a                        name: a
                                     annotations:
                                       team: 'ml'       <- single quoted, as kustomize 3.8.7 writes it

A replaced value keeps its quotes and its comment. ``metadata`` and ``annotations`` are added at the end of what lacks
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packyard.errors import InputError
from packyard.setters import value as values
from packyard.setters.addition import Tree, add, lexeme
from packyard.text import edit
from packyard.text.document import decode, parse_text
from packyard.text.edit import Edit
from packyard.text.node import Alias, Node, Scalar, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.scalar import double_quoted, single_quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which documents: those that have each of these exactly; an empty text stands for any."""

    kind: str = ""
    api_version: str = ""
    name: str = ""
    namespace: str = ""

    def holds(self, root: MappingNode) -> bool:
        """Say whether a document is one of them."""
        metadata = root.mapping("metadata")
        return (
            self.kind in ("", root.text("kind"))
            and self.api_version in ("", root.text("apiVersion"))
            and self.name in ("", metadata.text("name") if metadata else "")
            and self.namespace in ("", metadata.text("namespace") if metadata else "")
        )


def annotate(data: bytes, name: str, annotations: Mapping[str, str], selection: Selection) -> bytes:
    """Return a file with annotations on every document that the selection holds; ``name`` is what errors call it."""
    mark, text = decode(data, name)
    edits: list[Edit] = []
    if annotations:
        for document in parse_text(Source(name, text)):
            if isinstance(document.root, MappingNode) and selection.holds(document.root):
                edits += _annotate(document.root, annotations)
    return (mark + edit.apply(text, edits)).encode()


def _annotate(root: MappingNode, annotations: Mapping[str, str]) -> list[Edit]:
    edits: list[Edit] = []
    new: dict[str, Tree] = {}
    json = root.flow and bool(root.entries) and root.entries[0].key.lexeme.startswith('"')
    write = double_quoted if json else single_quoted
    present = root.mapping("metadata", "annotations")
    for key, text in annotations.items():
        old = present.get(key) if present else None
        if old is None:
            new[key] = write(text)
        else:
            edits.append(_replace(old, text, flow=present.flow if present else False))
    if new:
        edits += add(root, ("metadata", "annotations"), new, quoted=double_quoted if json else lexeme)
    return edits


def _replace(old: Node, text: str, *, flow: bool) -> Edit:
    if isinstance(old, Alias):
        return Edit(old.start, old.end, single_quoted(text))
    if not isinstance(old, Scalar):
        raise InputError(old.problem("an annotation is no text"))
    if old.start == old.end:
        return Edit(old.start, old.end, " " + single_quoted(text))
    written = values.lexeme(old, text, "string", flow=flow)
    if old.style in "|>":
        written += old.lexeme[len(old.lexeme.rstrip(" \t\r\n")) :]
    return Edit(old.start, old.end, written)
