"""Splices: replace spans of a text and leave every other character alone."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable


class Edit:
    """Replace ``text[start:end]`` by ``replacement``; an empty span inserts."""

    __slots__ = ("end", "replacement", "start")

    def __init__(self, start: int, end: int, replacement: str) -> None:
        self.start = start
        self.end = end
        self.replacement = replacement

    def __repr__(self) -> str:
        return f"Edit({self.start}, {self.end}, {self.replacement!r})"


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with all edits made; positions are those of the text as given.

    Insertions at one position keep the order in which they were given. Edits that overlap are our own bug: ValueError.
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise ValueError(f"edits overlap at character {edit.start}")
        parts += (text[position : edit.start], edit.replacement)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)


def apply_to_file(data: bytes, text: str, edits: Iterable[Edit]) -> bytes | None:
    """Return a file's bytes with edits made in its ``text``, behind the same mark; None where it stays as it is."""
    new = apply(text, edits)
    if new == text:
        return None
    return (BOM_UTF8 if data.startswith(BOM_UTF8) else b"") + new.encode()
