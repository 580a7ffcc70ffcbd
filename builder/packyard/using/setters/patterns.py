"""Patterns of definitions in words, for people who set values; a regular expression is for those who ask with -v.

Those of the catalogue have a sentence each. Any other definition says it by its ``title``.
"""

import re
from collections.abc import Mapping

from packyard.using.setters.definition import Setter, full_type

#: What each pattern admits, behind "takes"; what it names after "such as" is the example of a command.
_SENTENCES = {
    "[1-9][0-9]*": "a whole number of at least 1",
    "(0|[1-9][0-9]*)": "a whole number of at least 0",
    "[0-9]+": "a whole number of at least 0",
    r"[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?": "an amount with its unit, such as 200Gi or 500M",
    "[1-9][0-9]*(Mi|Gi|Ti)": "a whole number of Mi, Gi or Ti, such as 32Gi",
    r"[1-9][0-9]*(\.[0-9]+)?(Mi|Gi)": "a number of Mi or Gi, such as 24Gi",
    r"[0-9]+(\.[0-9]+|m)?": "a number of CPUs, such as 2, 0.5 or 500m",
    r"(0(\.[0-9]+)?|1(\.0+)?)": "a number from 0 to 1, such as 0.5",
    r"[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?": "a number, such as 0.01 or 1e-4",
    r"([1-9][0-9]*(\.[0-9]+)?|0\.0*[1-9][0-9]*)([eE]-?[0-9]+)?": "a number above 0, such as 0.001 or 1e-4",
    "/[^ ]*": "a path that begins with '/', without blanks, such as /data",
    "(/[^/ ]+)+": "a path that begins with '/', without blanks and without '/' at its end, such as /data",
    "(/[A-Za-z0-9_.@+-]+)+": (
        "a path that begins with '/', of letters, digits and _.@+-, without '/' at its end, such as /data"
    ),
    "[^/ ][^ ]*": "a path that does not begin with '/', without blanks, such as data",
    "[A-Za-z0-9_][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*": (
        "a path that does not begin with '/', of letters, digits and _.@+-, such as data/file"
    ),
    "[^ ]*": "a text without blanks",
    "([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9._/-]+(:[A-Za-z0-9_.-]+|(:[A-Za-z0-9_.-]+)?@sha256:[0-9a-f]{64})": (
        "an image with its tag or its digest, such as registry.example.com/train:1.0"
    ),
    "[a-z0-9]+([._/-]+[a-z0-9]+)*": (
        "the name of an image without registry and tag: lower-case letters, digits and ._-/, such as team/server"
    ),
    "[A-Za-z0-9.:-]+": "a host name or address, without http:// and without a path",
    r"[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*": (
        "a host name, with port or path where needed, without https://, such as docker.io"
    ),
    "https?://[^ ]+": "a URL that begins with http:// or https://, such as https://s3.amazonaws.com",
    "[a-z0-9+]+://[^ ]+": "an address with its scheme, such as s3://models/zoo",
    "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]": (
        "the name of a bucket, without s3://: 3 to 63 lower-case letters, digits, '-' and '.'"
    ),
    r"\[[0-9]+(,[0-9]+)*\]": "whole numbers in brackets, such as [1000,2000]",
    r"\[[0-9A-Za-z(),.]+\]": "pairs in brackets, such as [(16,0.1),(20,None)]",
    "[a-z0-9-]+": "lower-case letters, digits and '-'",
    "[a-z0-9_]+": "lower-case letters, digits and '_'",
    "[A-Za-z0-9_]+": "letters, digits and '_'",
    "[A-Za-z0-9_.-]+": "letters, digits and _.-",
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?": "lower-case letters, digits and '-', without '-' at its ends",
    "[a-z0-9]([-.a-z0-9]*[a-z0-9])?": (
        "lower-case letters, digits, '-' and '.', beginning and ending with a letter or a digit"
    ),
    "[a-z]([-a-z0-9]*[a-z0-9])?": "a-z, 0-9 and '-', beginning with a letter, not ending with '-'",
    "[A-Za-z0-9_][A-Za-z0-9_.-]*": "letters, digits and _.-, beginning with a letter, a digit or '_'",
    "[A-Za-z0-9][A-Za-z0-9._-]*": "letters, digits and _.-, beginning with a letter or a digit",
    "[A-Za-z0-9][A-Za-z0-9._/:-]*": "letters, digits and _.-/:, beginning with a letter or a digit",
    "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?": (
        "letters, digits and _.-, beginning and ending with a letter or a digit"
    ),
    "[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?": (
        "letters, digits and _.-/, beginning and ending with a letter or a digit"
    ),
    "[A-Z_.]+=[^ ]+": "NAME=VALUE without blanks, NAME in capital letters, such as TRAIN.EVAL=1",
}

_OPTIONAL = re.compile(r"\((.*)\)\?")
_CHOICES = re.compile(r"\(?([\w.-]+(?:\|[\w.-]+)+)\)?")


def words(schema: Mapping[str, object]) -> str:
    """Return what the pattern of a definition admits; nothing where nothing says it in words."""
    title = schema.get("title")
    return (title.strip() if isinstance(title, str) else "") or _sentence(str(schema.get("pattern", "")))


def example(schema: Mapping[str, object]) -> str:
    """Return what the words name after "such as"; nothing where they name nothing."""
    return words(schema).partition("such as ")[2].partition(" ")[0].rstrip(",")


def has_words(schema: Mapping[str, object]) -> bool:
    """Say whether a definition's pattern can be told in words, if it has one."""
    return "pattern" not in schema or bool(words(schema) or alternatives(schema))


def choices(setter: Setter) -> list[str]:
    """Return the values that a definition lists, or those of its type if they are few."""
    listed = setter.schema.get("enum")
    enum = map(str, listed) if isinstance(listed, list) else ()
    flags = ("true", "false") if full_type(setter.type) == "boolean" else ()
    return [*setter.enum_values, *alternatives(setter.schema), *enum, *flags]


def alternatives(schema: Mapping[str, object]) -> list[str]:
    """Return the texts that a pattern lists, such as ``True`` and ``False`` for ``^(True|False)$``."""
    listed = _CHOICES.fullmatch(_body(str(schema.get("pattern", ""))))
    return listed.group(1).split("|") if listed else []


def _body(pattern: str) -> str:
    """Return a pattern without its anchors; one that is open at an end admits more than it says, and has no body."""
    return pattern[1:-1] if pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$") else ""


def _sentence(pattern: str) -> str:
    body = _body(pattern)
    inner = _OPTIONAL.fullmatch(body)  # what may be empty besides
    forms = (body, *((f"({inner.group(1)})", inner.group(1)) if inner else ()))
    return next((_SENTENCES[form] for form in forms if form in _SENTENCES), "")
