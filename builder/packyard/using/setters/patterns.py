"""Patterns of definitions in words, for people who set values; a regular expression is for those who ask with -v.

Those of the catalogue have a sentence each. Any other definition says it by its ``title``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

WHOLE, NUMBER, QUANTITY, PATH, TEXT, CHOICE = "whole number", "number", "quantity", "path", "text", "choice"


class Words(NamedTuple):
    """What a pattern admits: its kind, and what follows "takes"."""

    kind: str
    takes: str
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
    "[a-z0-9-]+": Words(TEXT, "lower-case letters, digits and '-'"),
    "[a-z0-9_]+": Words(TEXT, "lower-case letters, digits and '_'"),
    "[A-Za-z0-9_]+": Words(TEXT, "letters, digits and '_'"),
    "[A-Za-z0-9_.-]+": Words(TEXT, "letters, digits and _.-"),
    "[a-z0-9.-]*": Words(TEXT, "lower-case letters, digits, '-' and '.'"),
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?": Words(TEXT, "lower-case letters, digits and '-', without '-' at its ends"),
    "[a-z0-9]([-.a-z0-9]*[a-z0-9])?": Words(
        TEXT, "lower-case letters, digits, '-' and '.', beginning and ending with a letter or a digit"
    ),
    "[A-Za-z0-9_][A-Za-z0-9_.-]*": Words(TEXT, "letters, digits and _.-, beginning with a letter, a digit or '_'"),
    "[A-Za-z0-9][A-Za-z0-9._-]*": Words(TEXT, "letters, digits and _.-, beginning with a letter or a digit"),
    "[A-Za-z0-9][A-Za-z0-9._/:-]*": Words(TEXT, "letters, digits and _.-/:, beginning with a letter or a digit"),
    "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?": Words(
        TEXT, "letters, digits and _.-, beginning and ending with a letter or a digit"
    ),
    "[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?": Words(
        TEXT, "letters, digits and _.-/, beginning and ending with a letter or a digit"
    ),
    "[A-Z_.]+=[^ ]+": Words(TEXT, "NAME=VALUE without blanks, NAME in capital letters", example="TRAIN.EVAL=1"),
}

_OPTIONAL = re.compile(r"\((.*)\)\?")
_CHOICES = re.compile(r"\(?([\w.-]+(?:\|[\w.-]+)+)\)?")


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
    forms = (body, *((f"({inner.group(1)})", inner.group(1)) if inner else ()))
    return next((_SENTENCES[form] for form in forms if form in _SENTENCES), None)
