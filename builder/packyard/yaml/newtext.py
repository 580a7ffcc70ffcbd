"""A scalar with another text: its style, tag, anchor and indentation stay where the text fits.

a: 1.7         a: '1.8', or 1.8 if it is to be a number          a: |-  # note          a: |-  # note
b: "1.7"       b: "1.8"                                            old                    new

A text that a block cannot hold as it stands, an empty one or one that begins with a blank, goes into double quotes.
"""

from __future__ import annotations

import re

from packyard.yaml.edit import Edit, exchange
from packyard.yaml.node import Scalar
from packyard.yaml.scalar import double_quoted, fits_plain, implicit_type, is_plain_text, single_quoted
from packyard.yaml.span import blank_lines, line_break, properties

#: The types whose values stand without quotes.
PLAIN_TYPES = ("integer", "number", "boolean")
#: What is wanted of a field that keeps its quotes, or its lack of them, whatever type its text is then read as.
AS_IS = "as is"

_INDICATORS: re.Pattern[str] = re.compile(r"[-+0-9]*")
_PRINTABLE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*\Z")


def write(old: Scalar, new: str, wanted: str | None, *, flow: bool, forced: str = "'") -> list[Edit]:
    """Return the edit that makes ``old`` show ``new`` so that every reader takes it for the type that is wanted.

    ``wanted`` is string, a plain type (integer, number, boolean), `AS_IS`, or None where nobody knows: then quotes stay
    as they are, and a plain number, boolean or null may become another. Quotes that are there only because a value
    forces them are single ones, and go again with that value, so that setting the old value back restores the bytes;
    where double ones are ``forced``, as in a Krmfile, all quotes stay.
    """
    if old.style in "|>" and wanted not in PLAIN_TYPES:
        return exchange(old, _block(old, new), new)
    return exchange(old, properties(old) + _on_one_line(old, new, wanted, flow, forced), new)


def _on_one_line(old: Scalar, new: str, wanted: str | None, flow: bool, forced: str) -> str:
    plain = old.style not in "'\""
    if wanted in PLAIN_TYPES and implicit_type(new) not in ("string", "null"):
        return new
    if not new and (wanted in PLAIN_TYPES or (wanted == AS_IS and plain)):
        return '""'  # as a required setter with a type ships
    if wanted is None and plain and old.tag is None and implicit_type(old.value) != "string":
        if implicit_type(new) in PLAIN_TYPES:
            return new
    elif (old.tag is not None or wanted == AS_IS) and plain and fits_plain(new, flow=flow):
        return new
    quote = forced if plain else old.style
    was_forced = quote == forced == "'" and wanted != AS_IS and not is_plain_text(old.value, flow=flow)
    if (plain or was_forced) and is_plain_text(new, flow=flow):
        return new
    return double_quoted(new) if quote == '"' else single_quoted(new)


def _block(old: Scalar, new: str) -> str:
    """Write a block up to and with the blank lines behind it, or what no block can hold in double quotes."""
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
