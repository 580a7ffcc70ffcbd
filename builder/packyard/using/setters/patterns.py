"""Patterns of definitions in words, for people who set values; a regular expression is for those who ask with -v.

    '^[a-z]([-a-z0-9]*[a-z0-9])?$'   lower-case letters, digits and '-', beginning with a lower-case letter

Those of the catalogue that are more than letters have a sentence each. Any other definition says it by its ``title``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

WHOLE, NUMBER, QUANTITY, PATH, TEXT, CHOICE = "whole number", "number", "quantity", "path", "text", "choice"


class Words(NamedTuple):
    """What a pattern admits: its kind, what follows "takes", and how it ends where only the letters are told.

    ``letters`` matches each character that the pattern admits anywhere, if that is known.
    """

    kind: str
    takes: str
    ends: str = ""
    letters: str = ""
    example: str = ""


_QUANTITY = Words(QUANTITY, "an amount with its unit, such as 200Gi or 500M", example="200Gi")
_SENTENCES = {
    "[1-9][0-9]*": Words(WHOLE, "a whole number of at least 1"),
    "(0|[1-9][0-9]*)": Words(WHOLE, "a whole number of at least 0"),
    "[0-9]+": Words(WHOLE, "a whole number of at least 0"),
    r"[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?": _QUANTITY,
    "[1-9][0-9]*(Mi|Gi|Ti)": Words(QUANTITY, "a whole number of Mi, Gi or Ti, such as 32Gi", example="32Gi"),
    r"[1-9][0-9]*(\.[0-9]+)?(Mi|Gi)": Words(QUANTITY, "a number of Mi or Gi, such as 24Gi", example="24Gi"),
    r"[0-9]+(\.[0-9]+|m)?": Words(QUANTITY, "a number of CPUs, such as 2, 0.5 or 500m", example="2"),
    r"(0(\.[0-9]+)?|1(\.0+)?)": Words(NUMBER, "a number from 0 to 1, such as 0.5", example="0.5"),
    r"[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?": Words(NUMBER, "a number, such as 0.01 or 1e-4", example="0.01"),
    r"([1-9][0-9]*(\.[0-9]+)?|0\.0*[1-9][0-9]*)([eE]-?[0-9]+)?": Words(
        NUMBER, "a number of more than 0, such as 0.001 or 1e-4", example="0.001"
    ),
    "/[^ ]*": Words(PATH, "a path that begins with '/', without blanks", example="/data"),
    "(/[^/ ]+)+": Words(
        PATH, "a path that begins with '/', without blanks and without '/' at its end", example="/data"
    ),
    "(/[A-Za-z0-9_.@+-]+)+": Words(
        PATH, "a path that begins with '/', of letters, digits and _.@+-, without '/' at its end", example="/data"
    ),
    "[^/ ][^ ]*": Words(PATH, "a path that does not begin with '/', without blanks", example="data"),
    "[A-Za-z0-9_][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*": Words(
        PATH, "a path that does not begin with '/', of letters, digits and _.@+-", example="data/file"
    ),
    "[^ ]*": Words(TEXT, "a text without blanks"),
    "[A-Za-z0-9.:-]*": Words(TEXT, "a host name or address, without http:// and without a path"),
    "[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*": Words(
        TEXT, "a registry: a host name, with a port or a path if it needs one, without https://", example="docker.io"
    ),
    "([A-Za-z0-9./:_-]+:[A-Za-z0-9._-]+|[A-Za-z0-9./:_-]+@sha256:[0-9a-f]{64})": Words(
        TEXT, "an image with its tag or its digest, such as registry.example.com/train:1.0"
    ),
    "[a-z0-9]+([._/-]+[a-z0-9]+)*": Words(
        TEXT,
        "the name of an image without registry and tag: lower-case letters, digits and ._-/",
        example="team/server",
    ),
    "[0-9a-fA-F.:]+/[0-9]{1,3}": Words(TEXT, "a range of addresses, such as 192.0.2.0/24", example="192.0.2.7/32"),
    "https?://[^ ]+": Words(TEXT, "a URL that begins with http:// or https://", example="https://s3.amazonaws.com"),
    "[a-z0-9+]+://[^ ]+": Words(TEXT, "an address with its scheme, such as s3://models/zoo", example="s3://models/zoo"),
    "(hf|s3|oci)://[^ ]+": Words(TEXT, "an address that begins with hf://, s3:// or oci://"),
    "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]": Words(
        TEXT, "the name of a bucket, without s3://: 3 to 63 lower-case letters, digits, '-' and '.'"
    ),
    r"\[[0-9]+(,[0-9]+)*\]": Words(TEXT, "whole numbers in brackets, such as [1000,2000]", example="[1000,2000]"),
    r"\[[0-9A-Za-z(),.]+\]": Words(TEXT, "pairs in brackets, such as [(16,0.1),(20,None)]", example="[(16,0.1)]"),
    "[A-Z_.]+=[^ ]+": Words(TEXT, "NAME=VALUE without blanks, NAME in capital letters", example="TRAIN.EVAL=1"),
}

_SET = r"\[((?:[^\]\\^]|\\.)(?:[^\]\\]|\\.)*)\]"
_OPTIONAL = re.compile(r"\((.*)\)\?")
#: Letters: a set, or a set with others behind it, which may end in a third.
_NAME = re.compile(rf"{_SET}(?:[*+]|{_SET}[*+]|\({_SET}\*{_SET}\)\?)")
_CHOICES = re.compile(r"\(?([\w.-]+(?:\|[\w.-]+)+)\)?")
_RANGES = {"a-z": "lower-case letters", "A-Z": "capital letters", "0-9": "digits"}
_ONE = {"a-z": "a lower-case letter", "A-Z": "a capital letter", "0-9": "a digit"}


def words(schema: Mapping[str, object]) -> Words | None:
    """Return what the pattern of a definition admits; None where nothing says it in words."""
    pattern, title = str(schema.get("pattern", "")), schema.get("title")
    sentence = _sentence(pattern)
    if isinstance(title, str) and title.strip():
        return Words(sentence.kind if sentence else TEXT, title.strip())
    return sentence


def has_words(schema: Mapping[str, object]) -> bool:
    """Say whether a definition's pattern can be told in words, if it has one."""
    return "pattern" not in schema or words(schema) is not None or bool(choices(schema))


def choices(schema: Mapping[str, object]) -> list[str]:
    """Return the texts that a pattern lists, such as ``True`` and ``False`` for ``^(True|False)$``."""
    listed = _CHOICES.fullmatch(_body(str(schema.get("pattern", ""))))
    return listed.group(1).split("|") if listed else []


def _body(pattern: str) -> str:
    """Return a pattern without its anchors; one that is open at an end admits more than it says, and has no body."""
    return pattern[1:-1] if pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$") else ""


def _sentence(pattern: str) -> Words | None:
    body = _body(pattern)
    inner = _OPTIONAL.fullmatch(body)  # what may be empty besides
    for form in (body, *((f"({inner.group(1)})", inner.group(1)) if inner else ())):
        if sentence := _SENTENCES.get(form) or _of_letters(form):
            return sentence
    return None


def _of_letters(body: str) -> Words | None:
    """Return the words for a pattern that only says which letters stand where."""
    match = _NAME.fullmatch(body)
    sets = [_plain(part) for part in match.groups() if part] if match else []
    if not sets or not all(sets):
        return None
    first, last = (_listed(letters) != _listed("".join(sets)) for letters in (sets[0], sets[-1]))
    last = last and len(sets) > 2
    if first and last and _listed(sets[0]) == _listed(sets[-1]):
        ends = f", beginning and ending with {_one(sets[0])}"
    else:
        ends = f", beginning with {_one(sets[0])}" * first + f", ending with {_one(sets[-1])}" * last
    return Words(TEXT, _listed("".join(sets)), ends, "|".join(f"[{letters}]" for letters in sets))


def _plain(letters: str) -> str:
    """Return a set without escapes, ``-`` last; an empty text for one with ranges that have no name."""
    for escape, meaning in ((r"\d", "0-9"), (r"\w", "A-Za-z0-9_"), (r"\.", "."), (r"\-", "-"), (r"\/", "/")):
        letters = letters.replace(escape, meaning)
    spans = [span for span in _RANGES if span in letters]
    rest = "".join(letters.split(spans[0])) if spans else letters
    for span in spans[1:]:
        rest = rest.replace(span, "")
    if "\\" in rest or "-" in rest[1:-1]:
        return ""
    return "".join((*spans, rest.replace("-", ""), "-" * ("-" in rest)))


def _names(letters: str) -> tuple[list[str], list[str]]:
    """Return the ranges of a plain set, and its signs in quotes."""
    spans = [span for span in _RANGES if span in letters]
    for span in spans:
        letters = letters.replace(span, "")
    return spans, [f"'{sign}'" for sign in sorted(set(letters))]


def _listed(letters: str) -> str:
    """Return a plain set in words: ``lower-case letters, digits and '-'``."""
    spans, signs = _names(letters)
    return _joined([*_of_ranges(spans, "letters", _RANGES), *signs], "and")


def _one(letters: str) -> str:
    """Return one of a plain set in words: ``a lower-case letter, a digit or '-'``."""
    spans, signs = _names(letters)
    return _joined([*_of_ranges(spans, "a letter", _ONE), *signs], "or")


def _of_ranges(spans: list[str], both: str, names: Mapping[str, str]) -> list[str]:
    if spans[:2] == ["a-z", "A-Z"]:
        return [both, *(names[span] for span in spans[2:])]
    return [names[span] for span in spans]


def _joined(parts: list[str], conjunction: str) -> str:
    return f" {conjunction} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
