"""Which fields of an object carry a kpt setter comment.

    a: x # C            a scalar, in any style; behind the header of a block scalar
    l: # C              a list, behind its key where it is a block, behind its bracket where it is not
    - x

A comment on a line of its own binds nothing, nor does one behind a mapping, a list in a list, or a key without value.
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.dataclass import dataclass
from packyard.kubernetes.fieldtypes import Step
from packyard.setters.kpt.pattern import Pattern, parse
from packyard.yaml.node import Comment, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.yaml.span import header_comment


@dataclass(frozen=True, slots=True)
class Tagged:
    """A field and its pattern; ``entry`` is that of a list, whose comment may stand behind its key."""

    node: Scalar | SequenceNode
    path: tuple[Step, ...]
    pattern: Pattern
    comment: Comment
    entry: Entry | None
    flow: bool  # whether the field stands inside brackets


def find(node: Node | None, path: tuple[Step, ...] = (), flow: bool = False) -> Iterator[Tagged]:
    """Yield the tagged fields below a node: of a mapping its lists first, then what is below each entry, as in kpt."""
    if isinstance(node, MappingNode):
        flow = flow or node.flow
        for entry in node.entries:
            if isinstance(entry.value, SequenceNode):
                comment = list_comment(entry, entry.value)
                pattern = _pattern(comment)
                if pattern and comment:
                    yield Tagged(entry.value, (*path, entry.name), pattern, comment, entry, flow)
        for entry in node.entries:
            yield from find(entry.value, (*path, entry.name), flow)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from find(item.value, (*path, index), flow or node.flow)
    elif isinstance(node, Scalar) and node.lexeme:
        comment = scalar_comment(node)
        pattern = _pattern(comment)
        if pattern and comment:
            yield Tagged(node, path, pattern, comment, None, flow)


def list_comment(entry: Entry, node: SequenceNode) -> Comment | None:
    """Return the comment that belongs to a list: behind its key, or behind its closing bracket."""
    return node.comment if node.flow else entry.comment


def scalar_comment(node: Scalar) -> Comment | None:
    """Return the comment behind a scalar on its line, a block scalar's being the one behind its header."""
    if node.style not in "|>":
        return node.comment if node.comment and not node.comment.own_line else None
    return header_comment(node)


def _pattern(comment: Comment | None) -> Pattern | None:
    return parse(comment.text) if comment else None
