"""Licence headers: the comment that begins a file and says whose it is, under which terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packyard.core.yaml.node import Comment

_ENDS = re.compile(r"(?i)limitations under the licen[cs]e")
_BEGINS = re.compile(r"(?i)copyright\b|SPDX-|licensed under|license:")


def is_license(text: str) -> bool:
    """Say whether a line begins a notice."""
    return bool(_BEGINS.search(text))


def split(comments: Iterable[Comment]) -> tuple[list[Comment], list[Comment]]:
    """Return the comments of a notice, whose lines stand below each other, and the others."""
    notice: list[Comment] = []
    others: list[Comment] = []
    for block in _blocks(comments):
        ends = [number for number, each in enumerate(block, 1) if _ENDS.search(each.text)]
        length = ends[0] if ends else len(block) if any(is_license(each.text) for each in block) else 0
        notice += block[:length]
        others += block[length:]
    return notice, others


def _blocks(comments: Iterable[Comment]) -> Iterator[list[Comment]]:
    """Yield comments that stand on lines below each other, without a blank line between them."""
    block: list[Comment] = []
    for comment in comments:
        if block and comment.start > block[-1].end + 1 + comment.column:
            yield block
            block = []
        block.append(comment)
    if block:
        yield block
