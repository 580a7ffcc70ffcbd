"""A block scalar with another text: its style, header and indentation stay where the text fits.

a: |-  # note          a: |-  # note
  old                    new
  older

A text that a block cannot hold as it stands, an empty one or one that begins with a blank, goes into double quotes.
"""

from __future__ import annotations

import re

from packyard.yaml.node import Scalar, Source
from packyard.yaml.scalar import double_quoted
from packyard.yaml.span import blank_lines, line_break

_INDICATORS: re.Pattern[str] = re.compile(r"[-+0-9]*")
_PRINTABLE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*\Z")


def lexeme(old: Scalar, new: str) -> str:
    """Write ``new`` in the place of a block scalar: as a block up to and with the blank lines behind it, or quoted."""
    newline = line_break(old.source)
    header, _, body = old.lexeme.partition("\n")
    front, _, rest = header.rstrip("\r").partition(old.style)
    comment = _INDICATORS.sub("", rest, count=1)
    indicators = rest[: len(rest) - len(comment)]
    digits = indicators.strip("-+")
    indent = _indent(old, body)
    content = new.rstrip("\n")
    if not (indent and _fits(content, old.style, bool(digits))):
        return front + double_quoted(new)
    breaks = len(new) - len(content)  # at the end
    chomp = {0: "-", 1: ""}.get(breaks, "+")
    if breaks == len(old.value) - len(old.value.rstrip("\n")):
        chomp = indicators.strip("0123456789")
    kept = chomp == "+" and breaks > 0
    text = new[:-1] if kept else content
    if old.style == ">":  # one line break is a blank, two are one
        text = re.sub(r"\n+", r"\g<0>\n", content) + text[len(content) :]
    lines = [indent + line if line else "" for line in text.split("\n")]
    end = (
        newline if kept else blank_lines(old.lexeme) or newline * bool(breaks)
    )  # the last line of a file may have none
    return front + old.style + digits + chomp + comment + newline + newline.join(lines) + end


def embedded(node: Scalar) -> Source:
    """Return a scalar's text as a source, that of a literal block in the lines and columns that it has in its file."""
    header, _, raw = node.lexeme.partition("\n")
    indent = min((len(line) - len(line.lstrip(" ")) for line in raw.split("\n") if line.strip()), default=0)
    plain = "\n".join(line[indent:] for line in raw.split("\n"))
    if node.style != "|" or plain.rstrip() != node.value.rstrip():
        return Source(node.source.name, "\n" * (node.source.locate(node.start)[0] - 1) + node.value)
    start = node.start + len(header) + 1
    found = node.source.excerpt(start, start + len(raw.rstrip()))
    found.text += node.value[len(node.value.rstrip()) :]  # what |- strips, a block inside lacks too
    return found


def _indent(old: Scalar, body: str) -> str:
    """Return the blanks that stand before every line and do not belong to the text."""
    first = next((line for line in body.splitlines() if line.strip()), "")
    text = old.value.lstrip("\n")
    blanks = len(first) - len(first.lstrip(" ")) - (len(text) - len(text.lstrip(" ")))
    return " " * blanks


def _fits(content: str, style: str, declared: bool) -> bool:
    """Say whether a block of this style can hold a text; one that says its indentation can begin with blanks."""
    if not content or content[0] == "\n" or content[-1] in " \t" or _PRINTABLE.match(content) is None:
        return False
    if style == ">":  # such lines are not folded, and a blank at the end of one is
        return not any(line[:1] in (" ", "\t") or line[-1:] in (" ", "\t") for line in content.split("\n") if line)
    return declared or content[0] not in " \t"
