"""What is to be written into a text, on lines of its own or in brackets: scalars, in mappings by key and in lists.

{"name": Text("a"), "enum": ["1", "2"]}       name: a               {name: a, enum: [1, 2]}
                                              enum:
                                              - 1
                                              - 2
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from packyard.core.yaml.edit import Reading
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import double_quoted, fits_plain, is_plain_text, single_quoted, type_of


class Text(str):
    """A text that gets the quotes that it needs where it is written."""

    __slots__ = ()


class Written(NamedTuple):
    """A value that is written already.

    ``flow``   its text inside brackets, on one line
    ``reads``  what a parser reads from it
    ``lines``  its text outside of brackets, if that differs; the lines below the first are indented by two more columns
    """

    flow: str
    reads: Reading
    lines: Sequence[str] = ()


#: What is written: a `str` that is not a `Text` is a scalar that is written as it is, for example a number.
Tree = Text | str | Written | Mapping[str, "Tree"] | Sequence["Tree"]


def lexeme(text: str, *, flow: bool = False) -> str:
    """Write a text so that every reader takes it for that text: in double quotes if it looks like a number."""
    if is_plain_text(text, flow=flow):
        return text
    return double_quoted(text) if fits_plain(text, flow=flow) or not text else single_quoted(text)


def double(text: str) -> Written:
    """Return a text in double quotes."""
    return Written(double_quoted(text), text)


def literal(text: str) -> Written | None:
    """Return a text of several lines as a block; None where it would need escapes or an indentation indicator."""
    if "\n" not in text or text[0] in " \t\n":
        return None
    if "\\" in double_quoted(text.replace("\n", "").replace("\\", "").replace('"', "")):
        return None
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    header = f"|{'-' if not ends else '' if ends == 1 else '+'}"
    return Written(double_quoted(text), text, (header, *body.split("\n"), *[""] * (ends - 1)))


def tree(value: object, leaf: Callable[[Any], Any]) -> Any:
    """Return a value such as what is to be written; ``leaf`` makes that of what is neither a mapping nor a list."""
    if isinstance(value, dict):
        return {key: tree(member, leaf) for key, member in value.items()}
    return [tree(member, leaf) for member in value] if isinstance(value, list) else leaf(value)


def in_brackets(tree: Tree, key: Callable[[str], str] = lexeme) -> Written:
    """Return a mapping or list that is written in brackets wherever it stands."""
    return Written(flow(tree, key), reading(tree))


def block(tree: Tree, key: Callable[[str], str] = lexeme) -> Iterator[str]:
    """Yield the lines of a mapping or list that is not empty, lists in the column of their key; ``key`` writes keys."""
    assert not isinstance(tree, str | Written)
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            if _is_leaf(value):
                first, *below = _leaf(value)
                yield f"{key(name)}: {first}"
                yield from _indented(below)
            else:
                yield f"{key(name)}:"
                yield from _indented(block(value, key)) if isinstance(value, Mapping) else block(value, key)
    else:
        for value in tree:
            first, *below = _leaf(value) if _is_leaf(value) else block(value, key)
            yield f"- {first}"
            yield from _indented(below)


def flow(tree: Tree, key: Callable[[str], str] = lexeme) -> str:
    """Write a tree in brackets, on one line."""
    if isinstance(tree, Written):
        return tree.flow
    if isinstance(tree, str):
        return lexeme(tree, flow=True) if isinstance(tree, Text) else tree
    if isinstance(tree, Mapping):
        return "{" + ", ".join(f"{key(name)}: {flow(value, key)}" for name, value in tree.items()) + "}"
    return "[" + ", ".join(flow(value, key) for value in tree) + "]"


def flow_text(node: Node, *, inside: bool = False, plain: bool = False) -> str:
    """Write a node in brackets; its scalars stay as they are where they stood ``inside`` brackets, or could have.

    Where ``plain`` is asked for, texts have the quotes alone that they need, and no anchors.
    """
    if isinstance(node, SequenceNode):
        inside = inside or node.flow
        return "[" + ", ".join(flow_text(item.value, inside=inside, plain=plain) for item in node.items) + "]"
    if isinstance(node, MappingNode):
        inside = inside or node.flow
        pairs = [(entry.key, entry.value) for entry in node.entries]
        texts = ([flow_text(node, inside=inside, plain=plain) for node in pair] for pair in pairs)
        return "{" + ", ".join(f"{key}: {value}" for key, value in texts) + "}"
    if isinstance(node, Scalar) and plain and node.tag is None:
        return lexeme(node.value, flow=True) if type_of(node) == "string" else node.value or "null"
    if not isinstance(node, Scalar) or (inside and node.lexeme and "\n" not in node.lexeme):
        return node.lexeme
    if node.style == "plain":
        if not node.lexeme:
            return "null"
        return node.lexeme if fits_plain(node.lexeme, flow=True) else single_quoted(node.value)
    return double_quoted(node.value) if "\n" in node.lexeme else node.lexeme


def reading(tree: Tree) -> Reading:
    """Return how a tree reads once it is written."""
    if isinstance(tree, str | Written):
        return tree if isinstance(tree, str) else tree.reads
    if isinstance(tree, Mapping):
        return {name: reading(value) for name, value in tree.items()}
    return [reading(value) for value in tree]


def _is_leaf(tree: Tree) -> bool:
    return isinstance(tree, str | Written) or not tree


def _leaf(tree: Tree) -> Sequence[str]:
    if isinstance(tree, Written) and tree.lines:
        return tree.lines
    return (lexeme(tree) if isinstance(tree, Text) else flow(tree),)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" if line else "" for line in lines)
