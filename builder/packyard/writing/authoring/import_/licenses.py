"""Licence headers: the comment that begins a file and says whose it is, under which terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packyard.core.yaml.node import Comment

_BEGINS = re.compile(r"(?i)copyright\b|SPDX-|licensed under|license:")


def is_license(text: str) -> bool:
    """Say whether a line begins a notice."""
    return bool(_BEGINS.search(text))


def split(comments: Iterable[Comment]) -> tuple[list[Comment], list[Comment]]:
    """Return the comments of a notice, whose lines stand below each other, and the others."""
    notice: list[Comment] = []
    others: list[Comment] = []
    for block in _blocks(comments):
        (notice if any(is_license(each.text) for each in block) else others).extend(block)
    return notice, others


def _blocks(comments: Iterable[Comment]) -> Iterator[list[Comment]]:
    """Yield comments that stand on lines below each other, without a blank line between them."""
    block: list[Comment] = []
    for each in comments:
        if block and each.start > block[-1].end + each.column + 2:  # a line break, or two signs, and what indents
            yield block
            block = []
        block.append(each)
    if block:
        yield block
