"""JSON that machines write: one spelling for the same content, and typed reading that loses nothing.

A reader takes the fields that it knows; the rest is kept and written back, so that an older packyard does not change
the digest of what a newer one wrote. Reading stops at the first fault, with its path: ``setters.FOO.required``.
What is read may be made to harm: its size, its depth, the number of its values and the length of numbers are bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from json.encoder import encode_basestring
from typing import Any, TypeVar

from packyard.digest import Digest
from packyard.errors import InputError, IntegrityError, Problem

API_VERSION = "packyard/v1"

#: No document is longer, in bytes, or deeper, or has more objects and lists, or more values.
LIMIT = 8 * 1024 * 1024
_DEPTH, _GROUPS, _VALUES = 64, 100_000, 500_000

_T = TypeVar("_T")


def to_bytes(document: Mapping[str, object]) -> bytes:
    """Return ``document`` as UTF-8 with sorted keys, two spaces and a final newline."""
    return (_text(document, "") + "\n").encode()


class Lines:
    """An object whose fields have a line each in `to_lines`."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields = fields


def to_lines(document: Mapping[str, object]) -> bytes:
    """Return ``document`` as UTF-8 with a line a field, in the order given; what is no `Lines` is one line."""
    return (_in_lines(Lines(document), "") + "\n").encode()


def _in_lines(value: object, indent: str) -> str:
    if not isinstance(value, Lines):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    if not value.fields:
        return "{}"
    deeper = indent + "  "
    lines = [f"{deeper}{encode_basestring(key)}: {_in_lines(item, deeper)}" for key, item in value.fields.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def parse(data: bytes, *, kind: str, file: str) -> Record:
    """Read the document of an API ``kind``; ``file`` is its name in messages."""
    try:
        document = _document(data)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(Problem(f"is not JSON that can be kept: {error}", file=file)) from error
    fields = Record(document, file=file)
    found = f"{fields.text('apiVersion'):.80} {fields.text('kind'):.80}"
    if found != f"{API_VERSION} {kind}":
        problem = f"expected {API_VERSION} {kind}, found {found}"
        raise IntegrityError(Problem(problem, file=file, hint="a newer packyard may have written it"))
    return fields


def _document(data: bytes) -> object:
    """Read JSON, or raise `ValueError` for what is none, harms, or could not be written again."""
    if len(data) > LIMIT:
        raise ValueError(f"it is longer than {LIMIT} bytes")
    if data.count(b"{") + data.count(b"[") > _GROUPS or data.count(b",") > _VALUES:
        raise ValueError("it has too many values")
    document = json.loads(
        data.decode(),
        object_pairs_hook=_unique,
        parse_int=_whole,
        parse_float=_decimal,
        parse_constant=_no_constant,
    )
    level = [document]
    for _ in range(_DEPTH):
        level = [item for value in level for item in _items(value)]
        if not level:
            return document
    raise ValueError(f"it is deeper than {_DEPTH} levels")


def _items(value: object) -> Iterable[object]:
    """Return what is in a value; `ValueError` for a text with half a character, which UTF-8 cannot hold."""
    if isinstance(value, str):
        value.encode()
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _text(value: object, indent: str) -> str:
    """Return what ``json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False)`` does, in a third of the time."""
    deeper = indent + "  "
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{encode_basestring(key)}: {_text(value[key], deeper)}" for key in sorted(value)]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and value:
        return "[\n" + ",\n".join(deeper + _text(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


class Record:
    """The fields of one JSON object: each is taken by its name and type; `rest` is what nobody took."""

    def __init__(self, value: object, *, file: str, path: str = "") -> None:
        self._file = file
        self._path = path
        if not isinstance(value, dict):
            raise self._wrong(path, "an object", value)
        self._left: dict[str, Any] = dict(value)

    def text(self, key: str) -> str:
        """Take a text."""
        return self._take(key, str, "a text")

    def has(self, key: str) -> bool:
        """Say whether a field is there that was not taken."""
        return key in self._left

    def flag(self, key: str) -> bool:
        """Take true or false."""
        return self._take(key, bool, "true or false")

    def size(self, key: str) -> int:
        """Take a whole number that is not negative."""
        number = self._take(key, int, "a whole number")
        if isinstance(number, bool) or number < 0:
            raise self._wrong(self._at(key), "a size", number)
        return number

    def checked(self, key: str, check: Callable[[str], object]) -> str:
        """Take a text that ``check`` admits."""
        return self._checked(self._at(key), self.text(key), check)

    def digest(self, key: str) -> Digest:
        """Take a digest."""
        return Digest(self.checked(key, Digest.parse))

    def value(self, key: str) -> object:
        """Take whatever is there; it must be."""
        return self._take(key, object, "a value")

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts."""
        items = self._take(key, list, "a list")
        for index, item in enumerate(items):
            if not isinstance(item, str):
                raise self._wrong(f"{self._at(key)}[{index}]", "a text", item)
        return tuple(items)

    def list(self, key: str) -> tuple[Record, ...]:
        """Take a list of objects."""
        items = enumerate(self._take(key, list, "a list"))
        return tuple(Record(item, file=self._file, path=f"{self._at(key)}[{index}]") for index, item in items)

    def map(self, key: str) -> dict[str, Record]:
        """Take an object whose values are objects."""
        items = self._take(key, dict, "an object").items()
        return {name: Record(item, file=self._file, path=f"{self._at(key)}.{name}") for name, item in items}

    def text_map(self, key: str) -> dict[str, str]:
        """Take an object whose values are texts."""
        items = self._take(key, dict, "an object")
        for name, item in items.items():
            if not isinstance(item, str):
                raise self._wrong(f"{self._at(key)}.{name}", "a text", item)
        return dict(items)

    def digest_map(self, key: str) -> dict[str, Digest]:
        """Take an object whose values are digests."""
        items = self.text_map(key).items()
        return {name: Digest(self._checked(f"{self._at(key)}.{name}", text, Digest.parse)) for name, text in items}

    def checked_map(self, key: str, read: Callable[[object], _T]) -> dict[str, _T]:
        """Take an object whose values ``read`` takes."""
        found: dict[str, _T] = {}
        for name, item in self._take(key, dict, "an object").items():
            try:
                found[name] = read(item)
            except InputError as error:
                raise self._error(f"{self._at(key)}.{name}", str(error)) from error
        return found

    def rest(self) -> dict[str, object]:
        """Return the fields that were not taken."""
        return dict(self._left)

    def _take(self, key: str, kind: type[_T], name: str) -> _T:
        if key not in self._left:
            raise self._error(self._at(key), "is missing")
        value = self._left.pop(key)
        if not isinstance(value, kind):
            raise self._wrong(self._at(key), name, value)
        return value

    def _checked(self, path: str, text: str, check: Callable[[str], object]) -> str:
        try:
            check(text)
        except InputError as error:
            raise self._error(path, str(error)) from error
        return text

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _wrong(self, path: str, expected: str, found: object) -> IntegrityError:
        short = not isinstance(found, (str, list, dict)) or (isinstance(found, str) and len(found) < 80)
        shown = repr(found) if short else type(found).__name__
        return self._error(path or "the document", f"expected {expected}, found {shown}")

    def _error(self, path: str, message: str) -> IntegrityError:
        return IntegrityError(Problem(f"{path[:200]}: {message}", file=self._file))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key is there twice")
    return document


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _decimal(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is too large")
    return number


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is not a JSON number")
