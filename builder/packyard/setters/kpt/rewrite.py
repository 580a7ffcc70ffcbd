"""New text for a field that keeps the form it has: its style, its indentation, and the comment that tags it.

a: "x" # C      a: "y" # C          b: | # C        b: | # C        l: # C          l: [] # C
                                      x               y             - a
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packyard.errors import InputError, Problem
from packyard.setters.kpt.tagged import Tagged
from packyard.yaml import items
from packyard.yaml.document import parse_text
from packyard.yaml.edit import AS_IS, Edit, set_text
from packyard.yaml.node import Alias, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.yaml.scalar import double_quoted, fits_plain, implicit_type, single_quoted
from packyard.yaml.tree import Written, block
from packyard.yaml.values import type_of

if TYPE_CHECKING:
    from packyard.yaml.edit import Reading


def scalar(old: Scalar, new: str, *, known: str | None, flow: bool, keep_type: bool) -> list[Edit]:
    """Return the edit that makes a scalar show ``new``: none where it does already.

    A field that Kubernetes types as text, ``known`` being string, is quoted where it has to be. With ``keep_type`` any
    other plain text stays text too; without, as kpt does it, plain text becomes what ``new`` is read as.
    """
    if old.value == new and not (known == "string" and type_of(old) not in ("string", "null")):
        return []
    wanted = None if known == "int-or-string" else known
    if not keep_type and not (known == "string" and new and implicit_type(new) != "string"):
        wanted = AS_IS
    return set_text(old, new, wanted, flow=flow)


def roots_of(text: str) -> list[Node]:
    """Read a setter's value as YAML, which it may not be: then it has no root."""
    try:
        return [document.root for document in parse_text(Source("value", text)) if document.root is not None]
    except InputError:
        return []


def parse_list(text: str) -> SequenceNode | None:
    """Read the value of a list setter: None for an empty one, `InputError` for anything but a list."""
    if not text:
        return None
    roots = roots_of(text)
    if len(roots) != 1 or not isinstance(roots[0], SequenceNode):
        shown = double_quoted(text)
        message = f"input to array setter must be an array of values, but found {shown}"
        raise InputError(Problem(message, hint="a list is written [a, b]"))
    return roots[0] if roots[0].items else None


def sequence(field: Tagged, new: SequenceNode | None) -> list[Edit]:
    """Return the edits that give a list new items, in brackets or a line each as it is written now.

    A block without items has no form of its own: it becomes ``[]``, with the comment behind. Items that stay keep
    their lines and comments.
    """
    node = field.node
    assert isinstance(node, SequenceNode)
    null = "null" if node.flow else ""
    wanted = [
        Written(flow_text(item.value), reading(item.value, null), _item_lines(item.value))
        for item in (new.items if new else ())
    ]
    old = [None if isinstance(item.value, Alias) else flow_text(item.value) for item in node.items]
    return items.replace(node, wanted, items.match(old, [item.flow for item in wanted]), field.entry)


def reading(node: Node, null: str) -> Reading:
    """Return what a node reads: texts, lists and mappings; ``null`` is what stands for nothing."""
    if isinstance(node, SequenceNode):
        return [reading(item.value, null) for item in node.items]
    if isinstance(node, MappingNode):
        return [(reading(entry.key, null), reading(entry.value, null)) for entry in node.entries]
    if isinstance(node, Scalar):
        return node.value if node.lexeme else null
    raise InputError(node.problem("an alias cannot be put into a list", "write the value out"))


def block_text(new: SequenceNode) -> str:
    """Write items a line each."""
    return "\n".join(block([Written("", "", _item_lines(item.value)) for item in new.items]))


def _item_lines(node: Node) -> list[str]:
    """Return the lines of an item behind its dash."""
    if isinstance(node, Scalar) and node.style in "|>":
        return [double_quoted(node.value)]
    column = node.start - node.source.line_start(node.start)
    first, *others = re.split(r"\r\n?|\n", node.lexeme.rstrip("\r\n"))
    return [first, *(line[column:] if line.strip() else "" for line in others)]


def flow_text(node: Node, *, inside: bool = False) -> str:
    """Write a node in brackets; its scalars stay as they are where they stood ``inside`` brackets, or could have."""
    if isinstance(node, SequenceNode):
        inside = inside or node.flow
        return "[" + ", ".join(flow_text(item.value, inside=inside) for item in node.items) + "]"
    if isinstance(node, MappingNode):
        inside = inside or node.flow
        pairs = ((flow_text(entry.key, inside=inside), flow_text(entry.value, inside=inside)) for entry in node.entries)
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    if not isinstance(node, Scalar) or (inside and node.lexeme and "\n" not in node.lexeme):
        return node.lexeme
    if node.style == "plain":
        if not node.lexeme:
            return "null"
        return node.lexeme if fits_plain(node.lexeme, flow=True) else single_quoted(node.value)
    return double_quoted(node.value) if "\n" in node.lexeme else node.lexeme
