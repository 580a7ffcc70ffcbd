"""The lines of a YAML document as kustomize 3.8.7 and 4.5.4 write it, comments on lines of their own left out.

Both write two blanks of indentation, dashes in the column of their key, one blank before a comment behind a value, and
``{a: b, c: [d]}``. Quotes, anchors and block texts stay as they are. What takes several lines when it is written, or
becomes another thing, is written with `ELSE` in it, which no text has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from packyard.core.yaml.node import (
    Alias,
    Child,
    Collection,
    Document,
    Entry,
    Item,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
)
from packyard.core.yaml.values import double_quoted

ELSE = "\0"
#: 3.8.7 breaks a line at the first blank of a text, or comma in brackets, behind this column.
WIDTH = 80
#: What a plain text in brackets may not hold.
_NOT_IN_FLOW = re.compile(r"[,?\[\]{}:]|^-(\s|\Z)")
#: What is written in double quotes wherever it stands, and what is written as its number.
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\U00010000-\U0010ffff]")
_NUMBERED = re.compile(r"\\\\|\\[xu][0-9a-f]+|[\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Line:
    """A line as it is written; ``folds`` says that 3.8.7 breaks it.

    ``keeps`` says that a comment above the line stays there, and ``inner`` is the column of its last key or dash.
    """

    text: str = ""
    folds: bool = False
    keeps: bool = True
    inner: int = 0

    def add_text(self, text: str, quote: str) -> None:
        """Write a text, whose blanks may become line breaks."""
        if " " not in text or len(self.text) + len(text) < WIDTH:  # nothing breaks
            self.text += f"{quote}{text}{quote}"
            return
        self.text += quote
        for index, character in enumerate(text):
            if character == " " and len(self.text) > WIDTH and text[index - 1 : index] != " ":
                at_end = index in (0, len(text) - 1)
                self.folds |= not at_end if quote == '"' else text[index + 1 : index + 2] not in ("", " ")
            self.text += character
        self.text += quote

    def begin(self, index: int) -> None:
        """Write what stands before a child in brackets."""
        self.text += "," if index else ""
        self.folds |= len(self.text) > WIDTH
        self.text += " " if index else ""


def lines(document: Document) -> list[Line]:
    """Return the lines of a document that is not empty."""
    root = document.root
    if not isinstance(root, Collection) or root.flow:
        return [Line(ELSE)]
    head = _properties(root)
    writer = _Writer([Line(head)] if head else [])
    writer.collection(root, 0)
    return writer.lines


class _Writer:
    """Writes below the lines that it was given."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self._lists = 0  # that are open

    def collection(self, node: Collection, indent: int, *, is_nested: bool = False) -> None:
        """Write a block collection on lines of its own, or ``is_nested`` from the line of its dash on."""
        is_list = isinstance(node, SequenceNode)
        self._lists += is_list
        for index, child in enumerate(node.children):
            if index or not is_nested:
                self.lines.append(Line(" " * indent))
            self._child(child, indent, is_nested=is_nested and is_list)
        self._lists -= is_list

    def _child(self, child: Child, indent: int, *, is_nested: bool) -> None:
        """Write an entry or an item behind its indentation, which is on the line already."""
        line, value = self.lines[-1], child.value
        line.inner = indent
        if isinstance(child, Entry):
            _key(child.key, line, in_flow=False)
            line.text += ":"
        else:
            line.text += "-"
            line.keeps = line.keeps and not _is_moved(value, is_nested=is_nested, in_list=self._lists > 1)
        if not isinstance(value, Collection) or value.flow:
            self._single(child, indent, line)
        elif isinstance(child, Item) and not _properties(value) and child.comment is None:
            line.text += " "
            self.collection(value, indent + 2, is_nested=True)
        else:
            self._block(child, value, indent, line)

    def _block(self, child: Child, value: Collection, indent: int, line: Line) -> None:
        head = _properties(value)
        line.text += f" {head}" if head else ""
        if child.comment:
            line.text += ELSE if head or isinstance(child, Item) else f" {child.comment.text}"
        deeper = isinstance(value, MappingNode) or isinstance(child, Item)
        first = len(self.lines)
        self.collection(value, indent + 2 if deeper else indent)
        self.lines[first].keeps = self.lines[first].keeps and not isinstance(child, Item)

    def _single(self, child: Child, indent: int, line: Line) -> None:
        """Write a scalar, an alias or a flow collection behind a key or a dash."""
        value = child.value
        if isinstance(value, Scalar) and _is_text(value):
            self._text(value, indent + 2, line)
            return
        if value.start < value.end:
            line.text += " "
            _flow(value, line, in_flow=False)
        comment = value.comment or child.comment
        line.text += f" {comment.text}" if comment else ""

    def _text(self, node: Scalar, indent: int, line: Line) -> None:
        """Write a text of its own lines; 3.8.7 drops the comment behind its header."""
        head, value = _properties(node), node.value
        line.text += f" {head} " if head else " "
        if node.style == ">" or "#" in node.lexeme.partition("\n")[0]:
            line.text += ELSE
        elif not value or value[-1] == " " or " \n" in value or _SPECIAL.search(value):
            line.text += _quoted(value)
        else:
            hint = "2" if value[0] in " \n" else ""
            chomping = "+" if value == "\n" or value.endswith("\n\n") else "" if value.endswith("\n") else "-"
            line.text += f"|{hint}{chomping}"
            below = value.removesuffix("\n").split("\n")
            self.lines += [Line(" " * indent + text if text else "", inner=line.inner) for text in below]


def _is_moved(value: Node, *, is_nested: bool, in_list: bool) -> bool:
    """Say whether a comment above an item may be lost or moved: above brackets, an anchor, or a list in a list.

    Below another list, also where the item begins with a block text.
    """
    if not isinstance(value, Collection):
        return False
    if value.flow or is_nested:
        return bool(value.children)
    first = value.children[0].value
    begins = isinstance(first, Collection) if isinstance(value, SequenceNode) else in_list and _is_text(first)
    return begins or bool(_properties(value))


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style in "|>"


def _key(key: Node, line: Line, *, in_flow: bool) -> None:
    if isinstance(key, Scalar) and key.style not in "|>" and key.start < key.end:
        _scalar(key, line, in_flow=in_flow, may_fold=False)
    else:
        line.text += ELSE


def _flow(node: Node, line: Line, *, in_flow: bool) -> None:
    """Write a node on one line."""
    if isinstance(node, Alias):
        line.text += f"*{node.anchor}"
    elif isinstance(node, Scalar):
        _scalar(node, line, in_flow=in_flow)
    elif isinstance(node, Collection):
        head = _properties(node)
        line.text += f"{head} " if head else ""
        line.text += "{" if isinstance(node, MappingNode) else "["
        for index, child in enumerate(node.children):
            line.begin(index)
            if isinstance(child, Entry):
                _key(child.key, line, in_flow=True)
                line.text += ": "
            is_bare = (
                isinstance(child, Item) and isinstance(child.value, MappingNode) and child.value.lexeme[0] not in "{&!"
            )
            line.text += ELSE if is_bare else ""  # [a: b], which becomes [{a: b}]
            _flow(child.value, line, in_flow=True)
        line.text += "}" if isinstance(node, MappingNode) else "]"


def _scalar(node: Scalar, line: Line, *, in_flow: bool, may_fold: bool = True) -> None:
    head, value = _properties(node), node.value
    quote = node.style if node.style in ("'", '"') else ""
    line.text += f"{head} " if head and node.end > node.start + len(head) else head
    if value == "<<" and not quote and not head:
        line.text += "!!merge "
    if "\n" in value and quote != '"':
        line.text += ELSE
    elif quote == '"' or "\t" in value or _SPECIAL.search(value):
        quote, value = '"', _quoted(value)[1:-1]
    elif not quote and in_flow and (not value or _NOT_IN_FLOW.search(value)):
        quote = "'"
    elif quote:
        value = value.replace("'", "''")
    if may_fold:
        line.add_text(value, quote)
    else:
        line.text += f"{quote}{value}{quote}"


def _quoted(value: str) -> str:
    return _NUMBERED.sub(_number, double_quoted(value))


def _number(match: re.Match[str]) -> str:
    text = match.group()
    if text[0] != "\\":
        return f"\\U{ord(text):08X}"
    return text[:2] + text[2:].upper()


def _properties(node: Scalar | Collection) -> str:
    """Return anchor and tag of a node, in this order."""
    count = (node.anchor is not None) + (node.tag is not None)
    return " ".join(sorted(node.lexeme.split(None, count)[:count])) if count else ""
