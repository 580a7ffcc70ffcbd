"""The nodes of a YAML text, each with its span and the comments that belong to it.

Spans are character positions in the text of their `Source`. Comments stand where a reader sees them::

    # head of the entry          <- Entry.head
    key: value  # behind         <- Scalar.comment
    list:       # behind a key   <- Entry.comment, where a block collection follows
      # head of the item         <- Item.head
      - value
      # foot of the item         <- Item.foot
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from packyard.core.errors import Problem

#: How null is written, or left out.
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
#: A mapping with more entries than this keeps an index by name.
_MANY = 16


class Source:
    """The text of one file: decoded, without its byte order mark, with positions turned into lines on demand.

    ``aliases`` says how many aliases repeat a node, by the position where it begins, once the text was parsed.
    """

    __slots__ = ("_known", "aliases", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.aliases: dict[int, int] = {}
        self._known = (0, 1)  # a place, and its line

    def locate(self, index: int) -> tuple[int, int]:
        """Return line and column of a character, both counted from 1; lines from the last place that was asked for."""
        at, line = self._known
        first, last = (at, index) if at <= index else (index, at)
        breaks = self.text.count("\n", first, last) + self.text.count("\r", first, last)
        breaks -= self.text.count("\r\n", first, last)
        line += breaks if at <= index else -breaks
        self._known = index, line
        return line, index - self.line_start(index) + 1

    def problem(self, index: int, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the text, by the place of a character."""
        line, column = self.locate(index)
        return Problem(message, file=self.name, line=line, column=column, hint=hint)

    def line_start(self, index: int) -> int:
        """Return the position of the first character of the line that holds ``index``."""
        start = self.text.rfind("\n", 0, index) + 1
        return max(start, self.text.rfind("\r", start, index) + 1)


class Comment(NamedTuple):
    """A comment from its ``#`` to the end of its line."""

    text: str
    start: int
    column: int
    own_line: bool

    @property
    def end(self) -> int:
        """The position behind the comment's last character."""
        return self.start + len(self.text)


class Node:
    """A value with its span; ``comment`` is the one behind its last character."""

    __slots__ = ("comment", "end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.comment: Comment | None = None

    @property
    def lexeme(self) -> str:
        """The text of the node as it is written, properties (``&anchor``, ``!tag``) included."""
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """File and line, as messages name a place."""
        return f"{self.source.name}:{self.source.locate(self.start)[0]}"

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the node, by the place where it begins."""
        return self.source.problem(self.start, message, hint)

    def entry(self, name: str) -> "Entry | None":  # noqa: ARG002  # a mapping has entries
        """Return the first entry with this key, or None: what is no mapping has none."""
        return None

    def get(self, name: str) -> "Node | None":
        """Return the value under this key, or None."""
        entry = self.entry(name)
        return entry.value if entry else None

    def text(self, *names: str, default: str = "") -> str:
        """Follow keys down to the text of a scalar, as `find` does; return ``default`` where there is none, or null."""
        value = self.find(*names)
        return value.value if isinstance(value, Scalar) and not value.is_null else default

    def find(self, *names: str) -> "Node | None":
        """Follow keys down through mappings, or return None where one is missing or is something else."""
        node: Node | None = self
        for name in names:
            node = node.get(name) if node else None
        return node

    def mapping(self, *names: str) -> "MappingNode | None":
        """Follow keys down to a mapping, as `find` does."""
        node = self.find(*names)
        return node if isinstance(node, MappingNode) else None

    def scalar(self, *names: str) -> "Scalar | None":
        """Follow keys down to a scalar, as `find` does."""
        node = self.find(*names)
        return node if isinstance(node, Scalar) else None


class Scalar(Node):
    """A scalar: ``value`` is its text as YAML reads it, ``style`` one of ``plain ' " | >``."""

    __slots__ = ("anchor", "style", "tag", "value")

    def __init__(
        self, source: Source, start: int, end: int, value: str, style: str, tag: str | None, anchor: str | None
    ) -> None:
        self.source = source  # not by `super`, as most nodes are scalars
        self.start = start
        self.end = end
        self.comment = None
        self.value = value
        self.style = style
        self.tag = tag
        self.anchor = anchor

    @property
    def is_null(self) -> bool:
        """Whether it is null, for example ``~`` or nothing at all."""
        if self.tag is not None:
            return self.tag == "tag:yaml.org,2002:null"
        return self.style == "plain" and self.value in NULLS


class Alias(Node):
    """A reference to an anchored node."""

    __slots__ = ("anchor",)

    def __init__(self, source: Source, start: int, end: int, anchor: str) -> None:
        super().__init__(source, start, end)
        self.anchor = anchor


class Child:
    """One entry of a mapping or one item of a sequence, with the comments around it.

    ``head`` are the comment lines directly above, ``foot`` those below that are indented deeper than what follows;
    ``comment`` stands behind a key, or behind a dash, whose block collection begins on the next line.
    """

    __slots__ = ("comment", "foot", "head", "start", "value")

    def __init__(self, value: Node, start: int) -> None:
        self.value = value
        self.start = start
        self.head: Sequence[Comment] = ()
        self.foot: Sequence[Comment] = ()
        self.comment: Comment | None = None

    @property
    def column(self) -> int:
        """The column of an entry's key, or of an item's dash."""
        source = self.value.source
        line_start = source.line_start(self.start)
        dash = source.text.rfind("-", line_start, self.start) if isinstance(self, Item) else -1
        return (dash if dash >= 0 else self.start) - line_start


class Entry(Child):
    """A key and its value."""

    __slots__ = ("key",)

    def __init__(self, key: Node, value: Node, start: int) -> None:
        self.key = key  # not by `super`, as with scalars
        self.value = value
        self.start = start
        self.head = self.foot = ()
        self.comment = None

    @property
    def name(self) -> str:
        """The key as text; an empty text for a key that is a mapping, a list or an alias."""
        return self.key.value if isinstance(self.key, Scalar) else ""

    @property
    def text(self) -> str:
        """The value as text; an empty text for a value that is null, a mapping, a list or an alias."""
        return self.value.text()


class Item(Child):
    """A value in a sequence."""

    __slots__ = ()


class Collection(Node):
    """A mapping or a sequence; ``flow`` ones are written in brackets.

    Its children are named for its kind: the entries of a mapping, the items of a sequence.
    """

    __slots__ = ("_index", "anchor", "children", "flow", "tag")

    def __init__(self, source: Source, start: int, end: int, flow: bool, tag: str | None, anchor: str | None) -> None:
        super().__init__(source, start, end)
        self.flow = flow
        self.tag = tag
        self.anchor = anchor
        self.children: list[Any] = []
        #: The entries of a mapping, their number, and the places of keys, once one was asked for among many.
        self._index: tuple[list[Any], int, dict[str, int]] | None = None


class MappingNode(Collection):
    """Entries in the order of the text; a key may occur twice (see ``document.check_keys``)."""

    __slots__ = ()
    entries: list[Entry] = vars(Collection)["children"]  # the same slot

    def entry(self, name: str) -> Entry | None:
        """Return the first entry with this key, or None."""
        if len(self.entries) > _MANY:
            return self._entry_of_many(name)
        for entry in self.entries:
            key = entry.key  # not by `Entry.name`, as nothing is done more often
            if isinstance(key, Scalar) and key.value == name:
                return entry
        return None

    def _entry_of_many(self, name: str) -> Entry | None:
        entries, index = self.entries, self._index
        if index is None or index[0] is not entries or index[1] != len(entries):
            keys = ((entry.key, place) for place, entry in enumerate(entries))
            places = {key.value: place for key, place in reversed([*keys]) if isinstance(key, Scalar)}
            self._index = index = entries, len(entries), places
        place = index[2].get(name)
        return None if place is None else entries[place]


class SequenceNode(Collection):
    """Items in the order of the text."""

    __slots__ = ()
    items: list[Item] = vars(Collection)["children"]  # the same slot


class Document:
    """One YAML document of a text: its root (None where it is empty) and the comments that belong to no node."""

    __slots__ = ("head", "root", "source", "start", "tail")

    def __init__(self, source: Source, start: int) -> None:
        self.source = source
        self.start = start
        self.root: Node | None = None
        self.head: list[Comment] = []
        self.tail: list[Comment] = []
