"""Kpt's setter comments, ``# kpt-set: ${IMAGE}:${TAG}``: which fields carry one, and what its pattern says of them.

    a: x # C            a scalar, in any style; behind the header of a block scalar
    l: # C              a list, behind its key where it is a block, behind its bracket where it is not
    - x

A comment on a line of its own binds nothing, nor does one behind a mapping, a list in a list, or a key without value.
The prefix is exact, and everything to the end of the line is the pattern. A name is any text without ``}``; nothing is
escaped. What kpt leaves to chance (a value that holds ``${OTHER}`` itself) is settled by one pass: values are text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from packyard.core.errors import InputError
from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.node import Comment, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import header_comment

PREFIX = "# kpt-set: "
#: What a file must hold somewhere for any of its comments to be one of these: a search before a parse.
MARK = PREFIX.encode()

_NAME = re.compile(r"\$\{([^}]*)\}")


class Pattern:
    """Literal text with the names of setters between: ``names`` in their order, with repetitions."""

    __slots__ = ("_literals", "names", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _NAME.split(text)
        self._literals = parts[0::2]
        self.names = tuple(parts[1::2])

    @property
    def sole_name(self) -> str | None:
        """The name, where the pattern is one name and nothing else: what a list must have."""
        return self.names[0] if self.names and self._literals == ["", ""] else None

    def derive(self, value: str, *, empty: bool = False) -> dict[str, str]:
        """Return what the names stand for in ``value``; nothing where it does not match, or leaves one of them empty,
        unless that is asked for.

        The literals are looked for anywhere in one line of ``value``, and each name takes as much as it can, the first
        one first: ``${x}/${y}`` of ``a/b/c`` is x=a/b and y=c. A name that occurs twice has its last text. Takes time
        linear in the value for each name, where a regular expression could take for ever.
        """
        for line in value.split("\n") if self.names else ():
            groups = self._match(line)
            if groups is not None:
                return dict(zip(self.names, groups, strict=True)) if empty or all(groups) else {}
        return {}

    def _match(self, line: str) -> list[str] | None:
        first, *rest = self._literals
        start = line.find(first)
        if start < 0:
            return None
        start += len(first)
        limit = len(line)
        places: list[tuple[int, int]] = []
        for literal in reversed(rest):  # the last place of each literal leaves most to the names before it
            limit = line.rfind(literal, start, limit)
            if limit < 0:
                return None
            places.append((limit, limit + len(literal)))
        groups: list[str] = []
        for at, end in reversed(places):
            groups.append(line[start:at])
            start = end
        return groups

    def expand(self, values: Mapping[str, str], current: str) -> str:
        """Return the text for ``values``, names that they lack derived from the ``current`` text.

        Raises `InputError` where one is still open.
        """
        derived = self.derive(current)
        texts = {name: text for name in self.names if (text := values.get(name, derived.get(name))) is not None}
        if missing := [f"${{{name}}}" for name in self.names if name not in texts]:
            raise InputError(f"values for setters [{' '.join(missing)}] must be provided")
        return _NAME.sub(lambda match: texts[match.group(1)], self.text)


class Cover:
    """Finds values of setters in texts, the longest first.

    ``nginx-abc`` of app=nginx and image=nginx-abc is ``${image}``. One pass: a name is not searched for values.
    """

    __slots__ = ("_lengths", "_names")

    def __init__(self, setters: Mapping[str, str]) -> None:
        self._names = {text: name for name, text in reversed(list(setters.items())) if text}
        self._lengths = sorted({len(text) for text in self._names}, reverse=True)

    def pattern(self, value: str) -> str | None:
        """Return ``value`` with the values of setters replaced by their names; None where none occurs."""
        parts = []
        at = 0
        while at < len(value):
            starts = (value[at : at + length] for length in self._lengths)
            longest = next((text for text in starts if text in self._names), "")
            parts.append(f"${{{self._names[longest]}}}" if longest else value[at])
            at += len(longest) or 1
        covered = "".join(parts)
        return covered if covered != value else None


@dataclass(frozen=True)
class Place:
    """A scalar, or a list with the ``entry`` that holds it; ``flow`` says that it stands inside brackets."""

    node: Scalar | SequenceNode
    path: tuple[Step, ...]
    entry: Entry | None
    flow: bool

    @property
    def comment(self) -> Comment | None:
        """The comment on its line: of a list behind its key or its bracket, of a block scalar behind its header."""
        if isinstance(self.node, SequenceNode):
            return self.node.comment if self.node.flow or self.entry is None else self.entry.comment
        if self.node.style in "|>":
            return header_comment(self.node)
        return self.node.comment if self.node.comment and not self.node.comment.own_line else None

    @cached_property
    def pattern(self) -> Pattern:
        """What its comment says, if that is one of kpt's; an empty one where there is none."""
        text = self.comment.text if self.comment else ""
        return Pattern(text.removeprefix(PREFIX).strip() if text.startswith(PREFIX) else "")


def places(node: Node | None, path: tuple[Step, ...] = (), flow: bool = False) -> Iterator[Place]:
    """Yield what may carry a comment below a node: of a mapping its lists, then what is below each entry, as in kpt."""
    if isinstance(node, MappingNode):
        flow = flow or node.flow
        for entry in node.entries:
            if isinstance(entry.value, SequenceNode):
                yield Place(entry.value, (*path, entry.name), entry, flow)
        for entry in node.entries:
            yield from places(entry.value, (*path, entry.name), flow)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from places(item.value, (*path, index), flow or node.flow)
    elif isinstance(node, Scalar) and node.lexeme:
        yield Place(node, path, None, flow)


def find(node: Node | None) -> Iterator[Place]:
    """Yield the tagged fields below a node: the places whose comment has a pattern."""
    return (place for place in places(node) if place.pattern.text)
