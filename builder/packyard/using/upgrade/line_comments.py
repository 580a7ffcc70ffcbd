"""Comments behind fields, which a side may change while the other changes the values before them.

    base    replicas: 2                                  ours    replicas: 7
    theirs  replicas: 2 # {"$openapi":"REPLICAS"}        merged  replicas: 7 # {"$openapi":"REPLICAS"}

A merge by lines takes that for a conflict. So a comment that one side changed, and nothing else of the line, goes to
base and to the other side first, if that has the line with the comment as it was. Lines are the same field by their
text, or, where a side replaced some, by their keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.yaml.document import all_comments, parse_file, walk
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.span import header_comment
from packyard.using.upgrade import lines

#: The key of a line, with its indentation and its dashes.
_KEY = re.compile(rb"\s*(?:- +)*(?:[^:#]*:(?=\s|\Z))?")


@dataclass(slots=True)
class _Line:
    """A line of a YAML file: up to the blanks before its comment, these with the comment, and its end."""

    code: bytes
    comment: bytes
    end: bytes


def carried(path: str, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes, bytes]:
    """Return three versions of a YAML file, with the comments that one side changed in base and the other, too."""
    try:
        old, one, other = (_parted(path, data) for data in (base, ours, theirs))
    except InputError:  # which is merged as any text
        return base, ours, theirs
    _carry(old, other, one)
    _carry(old, one, other)
    return _joined(old), _joined(one), _joined(other)


def _parted(path: str, data: bytes) -> list[_Line]:
    starts = {}
    for document in parse_file(data, path):
        scalars = (node for node in walk(document.root) if isinstance(node, Scalar)) if document.root else ()
        headers = (header_comment(each) for each in scalars if each.style in ("|", ">"))
        for comment in filter(None, (*all_comments(document), *headers)):
            if not comment.own_line:
                line, column = document.source.locate(comment.start)
                starts[line - 1] = column - 1
    return [_line(text, starts.get(number)) for number, text in enumerate(data.decode().split("\n"))]


def _line(text: str, start: int | None) -> _Line:
    whole = text.removesuffix("\r")
    code = whole[:start].rstrip() if start is not None else whole
    return _Line(code.encode(), whole[len(code) :].encode(), text[len(whole) :].encode())


def _joined(parted: Sequence[_Line]) -> bytes:
    return b"\n".join(each.code + each.comment + each.end for each in parted)


def _carry(base: Sequence[_Line], side: Sequence[_Line], other: Sequence[_Line]) -> None:
    """Give base and the other side the comments that a side changed behind what it left as it was."""
    there = dict(_pairs(base, other))
    for line, new in _pairs(base, side).items():
        same, was, now = there.get(line), base[line], side[new]
        if same is not None and now.code == was.code and was.comment == other[same].comment:
            base[line].comment = other[same].comment = now.comment


def _pairs(old: Sequence[_Line], new: Sequence[_Line]) -> dict[int, int]:
    """Return where lines of a version are in another: of those that were replaced, if as many have the same key."""
    codes = [[each.code for each in some] for some in (old, new)]
    pairs, at, place = dict[int, int](), 0, 0
    for change in lines.changes(*codes):
        pairs.update(zip(range(at, change.start), range(place, len(new)), strict=False))
        at, place = change.end, place + change.start - at + len(change.new)
        here, there = _by_key(old, change.start, at), _by_key(new, place - len(change.new), place)
        for key in here.keys() & there.keys():
            pairs.update(zip(here[key], there[key], strict=True) if len(here[key]) == len(there[key]) else ())
    return pairs | dict(zip(range(at, len(old)), range(place, len(new)), strict=True))


def _by_key(parted: Sequence[_Line], start: int, end: int) -> dict[bytes, list[int]]:
    places: dict[bytes, list[int]] = {}
    for number in range(start, end):
        if (match := _KEY.match(parted[number].code)) and match[0].strip():
            places.setdefault(match[0], []).append(number)
    return places
