"""Nodes that no file has: copies of others, and scalars, mappings and lists made of values.

A copy points into the source of its original. What is made has a source of its own, under the name of the file that it
is made for, which messages tell.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from packyard.core.yaml import content
from packyard.core.yaml.node import Child, Collection, Entry, Item, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.values import double_quoted, quoted

_Node = TypeVar("_Node", bound=Node)
_Child = TypeVar("_Child", bound=Child)


def clone(node: _Node) -> _Node:
    """Copy a node and all below it."""
    copied: _Node = copy(node, clone)
    return copied


def copy(node: _Node, inner: Callable[[Any], Any] = lambda value: value) -> _Node:
    """Copy a node with its entries or items, whose values are what ``inner`` returns for them."""
    copied: Any
    if isinstance(node, Scalar):
        copied = Scalar(node.source, node.start, node.end, node.value, node.style, node.tag, node.anchor)
    else:
        assert isinstance(node, Collection)
        copied = type(node)(node.source, node.start, node.end, node.flow, node.tag, node.anchor)
        copied.children = [like(child, inner) for child in node.children]
    copied.comment = node.comment
    return copied  # type: ignore[no-any-return]  # it is of the type of the node


def like(child: _Child, inner: Callable[[Any], Any] = lambda value: value) -> _Child:
    """Copy an entry or an item with its comments; its value is what ``inner`` returns for the value."""
    value = inner(child.value)
    twin: Any = Entry(child.key, value, child.start) if isinstance(child, Entry) else Item(value, child.start)
    twin.head, twin.foot, twin.comment = child.head, child.foot, child.comment
    return twin  # type: ignore[no-any-return]  # it is of the type of the child


def scalar(text: str, name: str, lexeme: str | None = None) -> Scalar:
    """Make a scalar; ``lexeme`` is how it is written: as it is, in double quotes, or else as is safe."""
    if lexeme is None:
        lexeme = quoted(text)
    return _scalar(text, name, lexeme, "plain" if lexeme == text else '"')


def literal(text: str, name: str) -> Scalar:
    """Make a literal block, or a text in quotes where a block would not keep every character."""
    written = content.literal(text)
    if written is None:
        return scalar(text, name, double_quoted(text))
    header, *lines = written.lines
    return _scalar(text, name, "\n".join([header, *(f"  {line}" if line else "" for line in lines), ""]), "|")


def mapping(name: str, values: Mapping[str, Node | str]) -> MappingNode:
    """Make a mapping of nodes and texts."""
    node = MappingNode(Source(name, ""), 0, 0, False, None, None)
    for key, value in values.items():
        node.entries.append(entry(key, value if isinstance(value, Node) else scalar(value, name)))
    return node


def entry(key: str, value: Node) -> Entry:
    """Make an entry."""
    return Entry(scalar(key, value.source.name), value, value.start)


def sequence(name: str, items: Iterable[Item]) -> SequenceNode:
    """Make a list."""
    node = SequenceNode(Source(name, ""), 0, 0, False, None, None)
    node.children = list(items)
    return node


def _scalar(text: str, name: str, lexeme: str, style: str) -> Scalar:
    return Scalar(Source(name, lexeme), 0, len(lexeme), text, style, None, None)
