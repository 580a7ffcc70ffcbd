"""Printing JSON and YAML, for programs: exact, and nothing in it acts on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from packyard.cli import output, streams
from packyard.core.errors import on_one_line


def json_object(value: object) -> None:
    """Print an object as JSON; characters that act on a terminal are escaped, which means the same."""
    streams.write(output.encoded(_exact(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"))


def json_list(values: Iterable[object]) -> None:
    """Print a list as `json_object` prints its items, without holding all of it."""
    before = "["
    for value in values:
        text = json.dumps(value, indent=2, ensure_ascii=False, default=_in_words).replace("\n", "\n  ")
        streams.write(output.encoded(f"{before}\n  {_exact(text)}"))
        before = ","
    streams.write(output.encoded("[]\n" if before == "[" else "\n]\n"))


def yaml_list(values: Iterable[object]) -> None:
    """Print the list that `json_list` prints as YAML; an item with what acts on a terminal is written as JSON."""
    from packyard.using.kustomize import manifest

    empty = b"[]\n"
    for value in values:
        text = json.dumps(value, ensure_ascii=False, default=_in_words)
        is_clean = on_one_line(text) == text
        streams.write(manifest.write([[json.loads(text)]]) if is_clean else f"- {_in_yaml(text)}\n".encode())
        empty = b""
    streams.write(empty)


def _in_yaml(text: str) -> str:
    """Escape the characters of JSON that act on a terminal as YAML does."""
    return "".join(sign if on_one_line(sign) == sign else f"\\U{ord(sign):08x}" for sign in text)


def _in_words(value: Any) -> object:
    """Return what JSON has for a value that it does not know: a path, or what else is written as a text."""
    if isinstance(value, Mapping):
        return dict(value)
    if not any("__str__" in vars(each) for each in type(value).__mro__[:-1]):
        raise TypeError(f"{value!r} has no JSON")
    return str(value)


def _exact(text: str) -> str:
    """Escape the characters of JSON that act on a terminal."""
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join("".join(map(_in_json, each)) for each in text.split("\n"))


def _in_json(sign: str) -> str:
    return sign if on_one_line(sign) == sign else json.dumps(sign)[1:-1]
