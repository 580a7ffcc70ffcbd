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

from packyard.core.errors import InputError
from packyard.core.yaml.content import Tree, Written, lexeme
from packyard.core.yaml.edit import Edit, exchange, set_text
from packyard.core.yaml.node import Alias, Document, MappingNode, Node, Scalar
from packyard.core.yaml.proof import rewrite
from packyard.core.yaml.splice import add
from packyard.core.yaml.values import double_quoted, single_quoted
from packyard.using.kustomize import selector


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which documents: those that have each of these exactly; an empty text stands for any."""

    kind: str = ""
    api_version: str = ""
    name: str = ""
    namespace: str = ""

    def holds(self, root: Node | None) -> bool:
        """Say whether the document with this root is one of them."""
        if not isinstance(root, MappingNode):
            return self == Selection()
        expected = (self.api_version, self.kind, self.namespace, self.name)
        return all(wanted in ("", text) for wanted, text in zip(expected, selector.identity(root), strict=True))


def annotate(data: bytes, name: str, annotations: Mapping[str, str], selection: Selection) -> bytes:
    """Return a file with annotations on every document that the selection holds; ``name`` is what errors call it."""

    def change(document: Document) -> list[Edit]:
        root = document.root
        return _annotate(root, annotations) if isinstance(root, MappingNode) and selection.holds(root) else []

    return rewrite(data, name, change) if annotations else data


def _annotate(root: MappingNode, annotations: Mapping[str, str]) -> list[Edit]:
    edits: list[Edit] = []
    new: dict[str, Tree] = {}
    json = root.flow and bool(root.entries) and root.entries[0].key.lexeme.startswith('"')
    quotes = double_quoted if json else single_quoted
    present = root.mapping("metadata", "annotations")
    for key, text in annotations.items():
        old = present.get(key) if present else None
        if old is None:
            new[key] = Written(quotes(text), text)
        else:
            edits += _replace(old, text, flow=present.flow if present else False)
    if new:
        edits += add(root, ("metadata", "annotations"), new, key=double_quoted if json else lexeme)
    return edits


def _replace(old: Node, text: str, *, flow: bool) -> list[Edit]:
    if isinstance(old, Alias) or (isinstance(old, Scalar) and old.start == old.end):
        return exchange(old, single_quoted(text), text)
    if not isinstance(old, Scalar):
        raise InputError(old.problem("an annotation must be a text"))
    return set_text(old, text, "string", flow=flow)
