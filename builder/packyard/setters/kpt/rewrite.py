"""New text for a field that keeps the form it has: its style, its indentation, and the comment that tags it.

a: "x" # C      a: "y" # C          b: | # C        b: | # C        l: # C          l: [] # C
                                      x               y             - a
"""

from __future__ import annotations

import re

from packyard.errors import InputError, Problem
from packyard.setters import block
from packyard.setters import value as values
from packyard.setters.kpt.tagged import Tagged
from packyard.setters.krmfile import line_break
from packyard.text.document import parse_text
from packyard.text.edit import Edit
from packyard.text.node import Mapping, Node, Scalar, Sequence, Source
from packyard.text.scalar import double_quoted, fits_plain, implicit_type, single_quoted


def scalar(old: Scalar, new: str, *, known: str | None, flow: bool, keep_type: bool) -> list[Edit]:
    """Return the edit that makes a scalar show ``new``: none where it does already.

    A field that Kubernetes types as text, ``known`` being string, is quoted where it has to be. With ``keep_type`` any
    other plain text stays text too; without, as kpt does it, plain text becomes what ``new`` is read as.
    """
    if old.value == new and not (known == "string" and reads_as(old) not in ("string", "null")):
        return []
    if old.style in "|>":
        return [Edit(old.start, old.end, block.lexeme(old, new))]
    if not new and old.style == "plain":
        text = '""'
    elif keep_type:
        wanted = None if known == "int-or-string" else known
        return _edit(old, values.lexeme(old, new, wanted, flow=flow))
    elif old.style == '"':
        text = double_quoted(new)
    elif old.style == "'":
        text = single_quoted(new)
    elif fits_plain(new, flow=flow) and not (known == "string" and implicit_type(new) != "string"):
        text = new
    else:
        text = single_quoted(new)
    return _edit(old, values.properties(old) + text)


def _edit(old: Scalar, lexeme: str) -> list[Edit]:
    return [Edit(old.start, old.end, lexeme)] if lexeme != old.lexeme else []


def reads_as(scalar: Scalar) -> str:
    """Return the type that kustomize gives to a scalar."""
    return implicit_type(scalar.value) if scalar.style == "plain" and scalar.tag is None else "string"


def parse_list(text: str) -> Sequence | None:
    """Read the value of a list setter: None for an empty one, `InputError` for anything but a list."""
    if not text:
        return None
    try:
        roots = [document.root for document in parse_text(Source("value", text))]
    except InputError:
        roots = []
    if len(roots) != 1 or not isinstance(roots[0], Sequence):
        shown = double_quoted(text)
        message = f"input to array setter must be an array of values, but found {shown}"
        raise InputError(Problem(message, hint="a list is written [a, b]"))
    return roots[0] if roots[0].items else None


def sequence(field: Tagged, new: Sequence | None) -> list[Edit]:
    """Return the edits that give a list new items, in brackets or a line each as it is written now.

    A block without items has no form of its own: it becomes ``[]``, with the comment behind. The comments of the old
    items go with them.
    """
    node = field.node
    assert isinstance(node, Sequence)
    if node.anchor or node.tag:
        raise InputError(node.problem("a list with an anchor or a tag cannot be replaced exactly"))
    if new is not None and [flow_text(item.value) for item in new.items] == [
        flow_text(item.value) for item in node.items
    ]:
        return []
    if node.flow:
        return [Edit(node.start, node.end, flow_text(new) if new else "[]")] if new or node.items else []
    end = end_of_lines(node)
    if new is None:
        comment = field.comment
        return [Edit(comment.start, comment.start, "[] "), Edit(comment.end, end, "")]
    return [Edit(node.start, end, block_text(new, node.start - node.source.line_start(node.start), node.source))]


def end_of_lines(node: Node) -> int:
    """Return where a block collection's last line ends, a comment behind its last item included, its line break not."""
    source, end = node.source, node.end
    while end > node.start and source.text[end - 1] in "\r\n":  # a block scalar ends behind its last line break
        end -= 1
    while end < len(source.text) and source.text[end] not in "\r\n":
        end += 1
    return end


def block_text(new: Sequence, column: int, source: Source) -> str:
    """Write items a line each, the first dash standing at ``column`` already."""
    newline = line_break(source)
    return (newline + " " * column).join("- " + _moved(item.value, column + 2, newline) for item in new.items)


def _moved(node: Node, column: int, newline: str) -> str:
    """Return an item's text with its lines after the first moved to another column."""
    if isinstance(node, Scalar) and node.style in "|>":
        return double_quoted(node.value)
    start = node.start - node.source.line_start(node.start)
    text = node.source.text[node.start : node.end].rstrip("\r\n")
    first, *others = re.split(r"\r\n?|\n", text)
    return newline.join((first, *(" " * column + line[start:] if line.strip() else "" for line in others)))


def flow_text(node: Node, *, inside: bool = False) -> str:
    """Write a node in brackets; its scalars stay as they are where they stood ``inside`` brackets, or could have."""
    if isinstance(node, Sequence):
        inside = inside or node.flow
        return "[" + ", ".join(flow_text(item.value, inside=inside) for item in node.items) + "]"
    if isinstance(node, Mapping):
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
