"""What a setter comment refers to.

Three forms, each a JSON object alone in the comment (kustomize 3.8.7, `fieldmeta.Read`)::

    # {"$openapi":"NAME"}                                          a setter of that name, else a substitution
    # {"$kpt-set":"NAME"}                                          the same, as kpt 0.x writes it
    # {"$ref":"#/definitions/io.k8s.cli.setters.NAME"}              exactly this definition

Anything else is an ordinary comment. A name is part of a URL: ``%xx`` stands for another sign.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

SETTER_PREFIX = "io.k8s.cli.setters."
SUBSTITUTION_PREFIX = "io.k8s.cli.substitutions."
REF_PREFIX = "#/definitions/"

#: What every comment of ours holds.
_MARKS = (b"$openapi", b"$ref", b"$kpt-set")

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF16_MARK = b"$\0o\0p\0e\0n\0a\0p\0i"  # whichever byte goes first

_PLAIN = re.compile(r"[!$&'()*+,.:;=?@\[\]_~0-9A-Za-z-]*\Z")


class DefinitionRef(NamedTuple):
    """The definition that a comment names; ``kind`` is setter, substitution or empty: the short form leaves it open."""

    kind: str
    name: str


def is_marked(data: bytes, names: Iterable[str] = ("",)) -> bool:
    """Say whether a file may hold a setter comment with one of these names: a search before a parse.

    One in UTF-16 may, so that it is parsed, and refused, where it would be passed over.
    """
    if b"$" not in data:  # as in most files
        return False
    if data[:2] in _UTF16:
        return _UTF16_MARK in data
    return any(mark in data for mark in _MARKS) and any(name.encode() in data for name in names)


def parse(text: str) -> DefinitionRef | None:
    """Read a comment, its ``#`` included; None where it refers to nothing."""
    body = text.lstrip("#").strip()
    if not (body.startswith("{") and ("$openapi" in body or "$ref" in body or "$kpt-set" in body)):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    for key in ("$openapi", "$kpt-set"):
        if key in value and all(isinstance(member, str) for member in value.values()):
            return DefinitionRef("", _decoded(value[key]))
    ref = value.get("$ref")
    return parse_ref(ref) if isinstance(ref, str) else None


def parse_ref(ref: str) -> DefinitionRef | None:
    """Read ``#/definitions/io.k8s.cli.setters.NAME`` or its like for a substitution."""
    return parse_key(_decoded(ref.removeprefix(REF_PREFIX))) if ref.startswith(REF_PREFIX) else None


def parse_key(key: str) -> DefinitionRef | None:
    """Read what a definition is called in its Krmfile, ``io.k8s.cli.setters.NAME``."""
    for kind, prefix in (("setter", SETTER_PREFIX), ("substitution", SUBSTITUTION_PREFIX)):
        if key.startswith(prefix):
            return DefinitionRef(kind, key.removeprefix(prefix))
    return None


def write(name: str) -> str:
    """Write the short form, signs that a URL cannot hold as ``%xx``: ``größe`` is ``gr%C3%B6%C3%9Fe``."""
    if not is_plain(name):
        from urllib.parse import quote

        name = quote(name, safe="!$&'()*+,-.:;=?@[]_~")
    return "# " + json.dumps({"$openapi": name}, separators=(",", ":"))


def is_plain(name: str) -> bool:
    """Say whether a comment spells a name as it is."""
    return _PLAIN.match(name) is not None


def _decoded(name: str) -> str:
    if "%" not in name:
        return name
    from urllib.parse import unquote

    return unquote(name)
