"""Patterns of definitions in words, for people who set values; a regular expression is for those who ask with -v.

Those of the catalogue have a sentence each. Any other definition says it by its ``title``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Words(NamedTuple):
    """What a pattern admits: what follows "takes", and an example."""

    takes: str
    example: str = ""


_QUANTITY = Words("an amount with its unit, such as 200Gi or 500M", example="200Gi")
_SENTENCES = {
    "[1-9][0-9]*": Words("a whole number of at least 1"),
    "(0|[1-9][0-9]*)": Words("a whole number of at least 0"),
    "[0-9]+": Words("a whole number of at least 0"),
    r"[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?": _QUANTITY,
    "[1-9][0-9]*(Mi|Gi|Ti)": Words("a whole number of Mi, Gi or Ti, such as 32Gi", example="32Gi"),
    r"[1-9][0-9]*(\.[0-9]+)?(Mi|Gi)": Words("a number of Mi or Gi, such as 24Gi", example="24Gi"),
    r"[0-9]+(\.[0-9]+|m)?": Words("a number of CPUs, such as 2, 0.5 or 500m", example="2"),
    r"(0(\.[0-9]+)?|1(\.0+)?)": Words("a number from 0 to 1, such as 0.5", example="0.5"),
    r"[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?": Words("a number, such as 0.01 or 1e-4", example="0.01"),
    r"([1-9][0-9]*(\.[0-9]+)?|0\.0*[1-9][0-9]*)([eE]-?[0-9]+)?": Words("a number above 0, such as 0.001 or 1e-4"),
    "/[^ ]*": Words("a path that begins with '/', without blanks", example="/data"),
    "(/[^/ ]+)+": Words("a path that begins with '/', without blanks and without '/' at its end", example="/data"),
    "(/[A-Za-z0-9_.@+-]+)+": Words(
        "a path that begins with '/', of letters, digits and _.@+-, without '/' at its end", example="/data"
    ),
    "[^/ ][^ ]*": Words("a path that does not begin with '/', without blanks", example="data"),
    "[A-Za-z0-9_][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*": Words(
        "a path that does not begin with '/', of letters, digits and _.@+-", example="data/file"
    ),
    "[^ ]*": Words("a text without blanks"),
    "([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9._/-]+(:[A-Za-z0-9_.-]+|(:[A-Za-z0-9_.-]+)?@sha256:[0-9a-f]{64})": Words(
        "an image with its tag or its digest, such as registry.example.com/train:1.0"
    ),
    "[a-z0-9]+([._/-]+[a-z0-9]+)*": Words(
        "the name of an image without registry and tag: lower-case letters, digits and ._-/",
        example="team/server",
    ),
    "[A-Za-z0-9.:-]+": Words("a host name or address, without http:// and without a path"),
    r"[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*": Words(
        "a host name, with port or path where needed, without https://", example="docker.io"
    ),
    "https?://[^ ]+": Words("a URL that begins with http:// or https://", example="https://s3.amazonaws.com"),
    "[a-z0-9+]+://[^ ]+": Words("an address with its scheme, such as s3://models/zoo", example="s3://models/zoo"),
    "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]": Words(
        "the name of a bucket, without s3://: 3 to 63 lower-case letters, digits, '-' and '.'"
    ),
    r"\[[0-9]+(,[0-9]+)*\]": Words("whole numbers in brackets, such as [1000,2000]", example="[1000,2000]"),
    r"\[[0-9A-Za-z(),.]+\]": Words("pairs in brackets, such as [(16,0.1),(20,None)]", example="[(16,0.1)]"),
    "[a-z0-9-]+": Words("lower-case letters, digits and '-'"),
    "[a-z0-9_]+": Words("lower-case letters, digits and '_'"),
    "[A-Za-z0-9_]+": Words("letters, digits and '_'"),
    "[A-Za-z0-9_.-]+": Words("letters, digits and _.-"),
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?": Words("lower-case letters, digits and '-', without '-' at its ends"),
    "[a-z0-9]([-.a-z0-9]*[a-z0-9])?": Words(
        "lower-case letters, digits, '-' and '.', beginning and ending with a letter or a digit"
    ),
    "[a-z]([-a-z0-9]*[a-z0-9])?": Words("a-z, 0-9 and '-', beginning with a letter, not ending with '-'"),
    "[A-Za-z0-9_][A-Za-z0-9_.-]*": Words("letters, digits and _.-, beginning with a letter, a digit or '_'"),
    "[A-Za-z0-9][A-Za-z0-9._-]*": Words("letters, digits and _.-, beginning with a letter or a digit"),
    "[A-Za-z0-9][A-Za-z0-9._/:-]*": Words("letters, digits and _.-/:, beginning with a letter or a digit"),
    "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?": Words(
        "letters, digits and _.-, beginning and ending with a letter or a digit"
    ),
    "[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?": Words(
        "letters, digits and _.-/, beginning and ending with a letter or a digit"
    ),
    "[A-Z_.]+=[^ ]+": Words("NAME=VALUE without blanks, NAME in capital letters", example="TRAIN.EVAL=1"),
}

_OPTIONAL = re.compile(r"\((.*)\)\?")
_CHOICES = re.compile(r"\(?([\w.-]+(?:\|[\w.-]+)+)\)?")


def words(schema: Mapping[str, object]) -> Words | None:
    """Return what the pattern of a definition admits; None where nothing says it in words."""
    title = schema.get("title")
    if isinstance(title, str) and title.strip():
        return Words(title.strip())
    return _sentence(str(schema.get("pattern", "")))


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
