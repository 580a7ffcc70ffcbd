"""Documents in which every alias is replaced by the node that it repeats.

    metadata: &pod {labels: {app: bert}}        the metadata of both templates are one node, with one place in the text
    ...
    metadata: *pod

Merge keys stay as they are; `values` reads them. A node keeps its anchor. Who changes one of the places has to copy
the nodes on the way to it.
"""

import re

from packyard.core.errors import InputError
from packyard.core.work.memo import Memo
from packyard.core.yaml.builder import MAX_DEPTH
from packyard.core.yaml.document import check_keys, parse_shared, parse_text
from packyard.core.yaml.node import Alias, Collection, Document, Entry, Node, Scalar, Source

#: A document whose aliases stand for more values than this is refused.
MAX_VALUES = 100_000
#: What may be an alias.
_ALIAS = re.compile(r"(?:\A|[\s\[{,:?])\*[^\s\[\]{},*]")


def read(source: Source, memo: Memo | None = None) -> list[Document]:
    """Parse a text, follow its aliases, and refuse a key that stands twice; for a caller who changes no node."""
    memo = memo or Memo()
    return memo.once(("aliases", source.name, source.text), lambda: _read(source, memo))


def followed(source: Source, memo: Memo | None = None) -> list[Document]:
    """Parse a text and follow its aliases, for a caller who changes no node; keys were checked before."""
    if "*" not in source.text or _ALIAS.search(source.text) is None:
        return parse_shared(source, memo)
    documents = parse_text(source)
    for document in documents:
        follow(document)
    return documents


def follow(document: Document) -> None:
    """Put anchored nodes in the place of the aliases of a document, which is changed.

    Refuses an alias inside of what it repeats, and aliases that stand for very many values or nest very deep.
    """
    if document.root is not None:
        document.root, _, _ = _Anchors().follow(document.root, 0)


def _read(source: Source, memo: Memo | None) -> list[Document]:
    for document in parse_shared(source, memo):
        check_keys(document)
    return followed(source, memo)


class _Anchors:
    """The anchored nodes of a document as far as it was read, each with the number of its values and its height."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Node, int, int]] = {}
        self._open: list[str] = []
        self._left = MAX_VALUES

    def follow(self, node: Node, level: int) -> tuple[Node, int, int]:
        """Return what stands for a node at a level, the number of values in it, and how many levels are below it."""
        if isinstance(node, Alias):
            return self._resolve(node, level)
        anchor = node.anchor if isinstance(node, Scalar | Collection) else None
        size, height = 1, 0
        if isinstance(node, Collection):
            self._open += [anchor] if anchor else []
            for child in node.children:
                if isinstance(child, Entry):
                    child.key, _, _ = self.follow(child.key, level + 1)
                value, inner, below = self.follow(child.value, level + 1)
                if isinstance(child.value, Alias):  # the comment behind it stays where it is
                    child.comment = child.comment or child.value.comment
                child.value = value
                size += inner
                height = max(height, below + 1)
            if anchor:
                self._open.pop()
        if anchor:
            self._found[anchor] = node, size, height
        return node, size, height

    def _resolve(self, alias: Alias, level: int) -> tuple[Node, int, int]:
        if alias.anchor in self._open:
            raise InputError(alias.problem(f"{alias.lexeme} refers to a node that contains it"))
        node, size, height = self._found[alias.anchor]
        self._left -= size
        if self._left < 0:
            raise InputError(alias.problem(f"its aliases stand for more than {MAX_VALUES} values"))
        if level + height > MAX_DEPTH:
            raise InputError(alias.problem(f"its aliases nest deeper than {MAX_DEPTH} levels"))
        return node, size, height
