"""Edits: replace spans of a text and leave every other character alone. Each says what it means.

    exchange(node, "'1.8'", "1.8")      a: 1.7 # note    ->    a: '1.8' # note

`proof` compares what edits mean with what they do, before a byte is written.
"""

from __future__ import annotations

from packyard.dataclass import dataclass
from packyard.yaml.node import Child, Comment, Node
from packyard.yaml.span import lexeme_in_place

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    #: What is to be read: a scalar's text, the items of a list, or the entries of a mapping.
    Reading = str | Sequence["Reading"] | Mapping[str, "Reading"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``text[start:end]`` by ``replacement``; an empty span inserts.

    What it means: ``node`` is what changes. A node that ``reads`` something else is exchanged as a whole. A collection
    gets ``new`` (an entry is a key and a value) and loses those in ``gone``. Comments in ``gone`` go, with
    ``comments`` in their place; where none goes, these are new ones behind the node, or behind or above the child.
    What is not said does not change.
    """

    start: int
    end: int
    replacement: str
    node: Node | Child | None = None
    reads: Reading | None = None
    new: Sequence[Reading | tuple[str, Reading]] = ()
    gone: Sequence[Child | Comment] = ()
    comments: Sequence[str] = ()


def exchange(old: Node, lexeme: str, reads: Reading) -> list[Edit]:
    """Write ``lexeme``, which reads ``reads``, in the place of a node; no edit where it stands there already."""
    if old.end > old.start and lexeme == old.lexeme:
        return []
    return [Edit(old.start, old.end, lexeme_in_place(old, lexeme), old, reads=reads)]


def replace_comment(old: Comment, text: str) -> Edit:
    """Write another comment in the place of one."""
    return Edit(old.start, old.end, text, gone=(old,), comments=(text,))


def apply(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """Return ``text``, or the part from ``start`` to ``end``, with all edits made; positions are those of ``text``.

    Insertions at one position keep the order in which they were given. Edits that overlap are our own bug: ValueError.
    """
    pieces: list[str] = []
    position = start
    for edit in in_order(edits):
        if edit.start < position:
            raise ValueError(f"edits overlap at character {edit.start}")
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
    pieces.append(text[position:end])
    return "".join(pieces)


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits in the order of the text."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))
