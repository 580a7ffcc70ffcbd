"""Edits: replace spans of a text and leave every other character alone. Each says what it means.

    exchange(node, "'1.8'", "1.8")      a: 1.7 # note    ->    a: '1.8' # note

`proof` compares what edits mean with what they do, before a byte is written. A scalar with another text keeps its
style, tag, anchor and indentation where the text fits:

a: 1.7         a: '1.8', or 1.8 if it is to be a number          a: |-  # note          a: |-  # note
b: "1.7"       b: "1.8"                                            old                    new

A text that a block cannot hold as it stands, an empty one or one that begins with a blank, goes into double quotes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from packyard.core.errors import InputError
from packyard.core.yaml.node import Child, Comment, Node, Scalar
from packyard.core.yaml.span import header_comment, line_break
from packyard.core.yaml.values import double_quoted, fits_plain, implicit_type, is_plain_text, single_quoted

#: What is to be read: a scalar's text, the items of a list, the entries of a mapping, or what a node elsewhere means.
Reading = str | Node | Sequence["Reading"] | Mapping[str, "Reading"]

#: The types whose values stand without quotes.
PLAIN_TYPES = ("integer", "number", "boolean")
#: What is wanted of a field that keeps its quotes, or its lack of them, whatever type its text is then read as.
AS_IS = "as is"

# Compiled on first use, so that `set` starts without them.
_INDICATORS = r"[-+0-9]*"
_PRINTABLE = r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*\Z"
_PROPERTIES = r"(?:[&!][^ \t\r\n]*(?:[ \t\r\n]+|\Z))*"
_BLOCK = r"(?:[&!][^ \t\r\n]*[ \t\r\n]+)*[|>]"


class Edit(NamedTuple):
    """Replace ``text[start:end]`` by ``replacement``; an empty span inserts.

    What it means: ``node`` is what changes. A node that ``reads`` something else is exchanged as a whole. A collection
    gets ``new`` (an entry is a key and a value) and loses those in ``gone``. A ``comment`` goes, with ``comments`` in
    its place; where none goes, these are new ones. What is not said does not change.
    """

    start: int
    end: int
    replacement: str
    node: Node | Child | None = None
    reads: Reading | None = None
    new: Sequence[Reading | tuple[str, Reading]] = ()
    gone: Sequence[Child] = ()
    comment: Comment | None = None
    comments: Sequence[str] = ()


def exchange(old: Node, lexeme: str, reads: Reading) -> list[Edit]:
    """Write ``lexeme``, which reads ``reads``, in the place of a node; no edit where it stands there already."""
    if old.end > old.start and lexeme == old.lexeme:
        return []
    return [Edit(old.start, old.end, _in_place(old, lexeme), old, reads=reads)]


def replace_comment(old: Comment, text: str) -> Edit:
    """Write another comment in the place of one."""
    return Edit(old.start, old.end, text, comment=old, comments=(text,))


def _in_place(old: Node, lexeme: str) -> str:
    """Return what has to stand in the span of ``old`` for ``lexeme`` to be read there.

    What has no text needs a blank before; a block scalar goes with its line break and the blank lines behind it, so
    these have to come back. Refuses a place where no value can stand, for example behind a key that is written with
    ``?``.
    """
    if old.start == old.end:
        if old.source.text[old.start - 1 : old.start] not in (":", "-"):
            raise InputError(old.problem("no value can be put where neither ':' nor '-' stands", "write `key: value`"))
        return " " + lexeme
    if isinstance(old, Scalar) and old.style in "|>" and not re.match(_BLOCK, lexeme):
        comment = header_comment(old)
        return lexeme + (f" {comment.text}" if comment else "") + _blank_lines(old.lexeme)
    return lexeme


def properties(old: Scalar) -> str:
    """Return the tag and anchor in front of a scalar's text, with the blanks behind them."""
    if old.tag is None and old.anchor is None:
        return ""
    match = re.match(_PROPERTIES, old.lexeme)
    assert match is not None
    return match.group() if match.group()[-1:] in " \t\r\n" else match.group() + " "


def set_text(old: Scalar, new: str, field_type: str | None, *, flow: bool, forced: str = "'") -> list[Edit]:
    """Return the edit that makes ``old`` show ``new`` so that every reader takes it for the type that is wanted.

    ``field_type`` is string, a plain type (integer, number, boolean), `AS_IS`, or None where nobody knows: then quotes
    stay as they are, and a plain number, boolean or null may become another. Quotes that are there only because a value
    forces them are single ones, and go again with that value, so that setting the old value back restores the bytes;
    where double ones are ``forced``, as in a Krmfile, all quotes stay.
    """
    if old.style in "|>" and field_type not in PLAIN_TYPES:
        return exchange(old, _block(old, new), new)
    return exchange(old, properties(old) + _on_one_line(old, new, field_type, flow, forced), new)


def _on_one_line(old: Scalar, new: str, field_type: str | None, flow: bool, forced: str) -> str:
    plain = old.style not in "'\""
    if field_type in PLAIN_TYPES and implicit_type(new) not in ("string", "null"):
        return new
    if not new and (field_type in PLAIN_TYPES or (field_type == AS_IS and plain)):
        return '""'  # as a required setter with a type ships
    if field_type is None and plain and old.tag is None and implicit_type(old.value) != "string":
        if implicit_type(new) in PLAIN_TYPES:
            return new
    elif (old.tag is not None or field_type == AS_IS) and plain and fits_plain(new, flow=flow):
        return new
    quote = forced if plain else old.style
    was_forced = quote == forced == "'" and field_type != AS_IS and not is_plain_text(old.value, flow=flow)
    if (plain or was_forced) and is_plain_text(new, flow=flow):
        return new
    return double_quoted(new) if quote == '"' else single_quoted(new)


def _block(old: Scalar, new: str) -> str:
    """Write a block up to and with the blank lines behind it, or what no block can hold in double quotes."""
    newline = line_break(old.source)
    header, _, body = old.lexeme.partition("\n")
    front, _, rest = header.rstrip("\r").partition(old.style)
    comment = re.sub(_INDICATORS, "", rest, count=1)
    indicators = rest[: len(rest) - len(comment)]
    digits = indicators.strip("-+")
    indent = _indent(old, body)
    content = new.rstrip("\n")
    if not (indent and _fits_block(content, old.style, bool(digits))):
        return front + double_quoted(new)
    breaks = len(new) - len(content)  # at the end
    chomp = {0: "-", 1: ""}.get(breaks, "+")
    if breaks == len(old.value) - len(old.value.rstrip("\n")):
        chomp = indicators.strip("0123456789")
    keeps_breaks = chomp == "+" and breaks > 0
    text = new[:-1] if keeps_breaks else content
    if old.style == ">":  # one line break is a blank, two are one
        text = re.sub(r"\n+", r"\g<0>\n", content) + text[len(content) :]
    lines = [indent + line if line else "" for line in text.split("\n")]
    end = (
        newline if keeps_breaks else _blank_lines(old.lexeme) or newline * bool(breaks)
    )  # the last line of a file may have none
    return front + old.style + digits + chomp + comment + newline + newline.join(lines) + end


def _indent(old: Scalar, body: str) -> str:
    """Return the blanks that stand before every line and do not belong to the text."""
    first = next((line for line in body.splitlines() if line.strip()), "")
    text = old.value.lstrip("\n")
    blanks = len(first) - len(first.lstrip(" ")) - (len(text) - len(text.lstrip(" ")))
    return " " * blanks


def _fits_block(content: str, style: str, declared: bool) -> bool:
    """Say whether a block of this style can hold a text; one that says its indentation can begin with blanks."""
    if not content or content[0] == "\n" or content[-1] in " \t" or re.match(_PRINTABLE, content) is None:
        return False
    if style == ">":  # such lines are not folded, and a blank at the end of one is
        return not any(line[:1] in (" ", "\t") or line[-1:] in (" ", "\t") for line in content.split("\n") if line)
    return declared or content[0] not in " \t"


def _blank_lines(text: str) -> str:
    """Return the line breaks at the end of a text, with the blanks between them."""
    return text[len(text.rstrip(" \t\r\n")) :].lstrip(" \t")
