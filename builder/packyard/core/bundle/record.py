"""JSON that machines write: one spelling for the same content, and typed reading that loses nothing.

    record.take("files", map_of(digest))      the field, or: files.a/b.yaml: 'x' is not a digest …

A dataclass can say its JSON once, for reading and writing: `in_json` in the metadata of a field is its reader.

A reader takes the fields that it knows; the rest is kept and written back, so that an older packyard does not change
the digest of what a newer one wrote. Reading stops at the first fault. What is read may be hostile: its size, its
depth and the number of its values are bounded.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring
from typing import Any, NamedTuple, TypeVar

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem

API_VERSION = "packyard/v1"

#: The limits of a document: its bytes, its depth, its objects and lists, its values.
LIMIT = 8 * 1024 * 1024
_DEPTH, _GROUPS, _VALUES = 64, 100_000, 500_000

_T = TypeVar("_T")


def to_bytes(document: Mapping[str, object]) -> bytes:
    """Return a document as UTF-8 with sorted keys, two spaces and a final newline."""
    return (json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def to_line(document: Mapping[str, object]) -> bytes:
    """Return a document as UTF-8 on one line, with sorted keys and no spaces."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def to_lines(document: Mapping[str, object], levels: Mapping[str, int]) -> bytes:
    """Return a document as UTF-8 with a line for each field, in the order given; the last level is sorted.

    ``levels`` says of a field how many levels of the objects in it have a line for each field as well; it comes last.
    """
    ordered = sorted(document.items(), key=lambda item: item[0] in levels)
    lines = [_line(key, value, levels.get(key, 0), "  ") for key, value in ordered]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _line(key: str, value: object, levels: int, indent: str) -> str:
    if not levels or not isinstance(value, dict) or not value:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    else:
        below = value.items() if levels > 1 else sorted(value.items())
        lines = [_line(name, item, levels - 1, indent + "  ") for name, item in below]
        text = "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return f"{indent}{encode_basestring(key)}: {text}"


def parse(data: bytes, read: "Callable[[Record], _T]", *, kind: str | Sequence[str], file: str) -> _T:
    """Read a document of an API ``kind``, or raise `IntegrityError`; ``file`` is its name in messages.

    Of several kinds, the reader takes the field ``kind``.
    """

    kinds = (kind,) if isinstance(kind, str) else kind

    def read_kind(record: Record) -> _T:
        version, found_kind = record.take("apiVersion", text), record.take("kind", text)
        if version != API_VERSION or found_kind not in kinds:
            problem = f"expected {API_VERSION} {' or '.join(kinds)}, found {version:.80} {found_kind:.80}"
            raise IntegrityError(Problem(problem, file=file, hint="a newer packyard may have written it: update yours"))
        return read(record if len(kinds) == 1 else Record({"kind": found_kind, **record.rest()}))

    return parse_any(data, read_kind, file=file)


def parse_any(data: bytes, read: "Callable[[Record], _T]", *, file: str) -> _T:
    """Read a document of somebody else's format, with the same bounds."""
    try:
        document = _document(data)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(Problem(f"cannot be read as JSON: {error}", file=file)) from error
    try:
        return read(Record(document))
    except FaultError as fault:
        raise IntegrityError(Problem(f"{fault.path[:200] or 'the document'}: {fault}", file=file)) from fault


def in_json(read: Callable[[object], object], absent: object = None, *, always: bool = False) -> dict[str, object]:
    """Return the metadata of a dataclass's field that the JSON has, ``use_cases`` as ``useCases``.

    Where it has the value ``absent``, if that is given, JSON may leave it out, and `document` does, unless ``always``.
    """
    return {"read": read, "absent": absent, "left_out": None if always else absent}


def document(value: object) -> Any:
    """Return a value as JSON: objects of dataclasses with what `Record.take_all` reads."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [document(item) for item in value]
    if not is_dataclass(value):
        return value
    item: Any = value
    cls: Any = type(item)
    pairs = [(field, getattr(item, field.name)) for field in _declared(cls)]
    return {**{field.key: document(content) for field, content in pairs if content != field.left_out}, **item.extra}


class _JsonField(NamedTuple):
    """A field of a dataclass that the JSON has."""

    name: str
    key: str
    read: Callable[[object], object]
    absent: object
    left_out: object


@cache
def _declared(cls: Any) -> tuple[_JsonField, ...]:
    return tuple(
        _JsonField(field.name, _key(field.name), *field.metadata.values()) for field in fields(cls) if field.metadata
    )


def _key(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.title, words))


class FaultError(ValueError):
    """What a reader does not take; ``path`` says where it stands: ``useCases.multi-node.requires[2]``."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Record:
    """The fields of one JSON object: each is taken by its name, by a reader of its value."""

    def __init__(self, value: object) -> None:
        self._left: dict[str, object] = dict(_typed(value, dict, "an object"))

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, read: Callable[[object], _T], absent: _T | None = None) -> _T:
        """Take a field, or ``absent`` where it is not there and may be missing."""
        if key in self._left:
            return _read(read, self._left.pop(key), key)
        if absent is None:
            raise FaultError("is missing", key)
        return absent

    def take_all(self, make: Callable[..., _T]) -> _T:
        """Take the fields that a dataclass declares by `in_json`; the rest is its ``extra``."""
        values = {field.name: self.take(field.key, field.read, field.absent) for field in _declared(make)}
        return make(**values, extra=self.rest())

    def rest(self) -> dict[str, object]:
        """Return the fields that were not taken."""
        return dict(self._left)


def text(value: object) -> str:
    """Read a text."""
    return _typed(value, str, "a text")


def flag(value: object) -> bool:
    """Read true or false."""
    return _typed(value, bool, "true or false")


def size(value: object) -> int:
    """Read a whole number that is not negative."""
    number = _typed(value, int, "a whole number")
    if isinstance(value, bool) or number < 0:
        raise _wrong("a size", value)
    return number


def digest(value: object) -> Digest:
    """Read a digest."""
    return Digest.parse(text(value))


def checked(check: Callable[[str], object]) -> Callable[[object], str]:
    """Return the reader of a text that ``check`` admits."""

    def read(value: object) -> str:
        value_text = text(value)
        check(value_text)
        return value_text

    return read


def object_of(make: Callable[..., _T]) -> Callable[[object], _T]:
    """Return the reader of an object with the fields that a dataclass declares; see `Record.take_all`."""
    return lambda value: Record(value).take_all(make)


def list_of(read: Callable[[object], _T]) -> Callable[[object], tuple[_T, ...]]:
    """Return the reader of a list whose items ``read`` takes."""
    return lambda value: tuple(
        _read(read, item, f"[{index}]") for index, item in enumerate(_typed(value, list, "a list"))
    )


def map_of(read: Callable[[object], _T]) -> Callable[[object], dict[str, _T]]:
    """Return the reader of an object whose values ``read`` takes."""
    return lambda value: {name: _read(read, item, name) for name, item in _typed(value, dict, "an object").items()}


def _read(read: Callable[[object], _T], value: object, place: str) -> _T:
    try:
        return read(value)
    except FaultError as fault:
        dot = "." if fault.path and not fault.path.startswith("[") else ""
        raise FaultError(str(fault), f"{place}{dot}{fault.path}") from fault
    except InputError as error:
        raise FaultError(str(error), place) from error


def _typed(value: object, kind: type[_T], name: str) -> _T:
    if not isinstance(value, kind):
        raise _wrong(name, value)
    return value


def _wrong(expected: str, value: object) -> FaultError:
    short = not isinstance(value, (str, list, dict)) or (isinstance(value, str) and len(value) < 80)
    return FaultError(f"expected {expected}, found {repr(value) if short else type(value).__name__}")


def _document(data: bytes) -> object:
    """Read JSON; raise `ValueError` for what is not JSON, does harm, or could not be written again."""
    if len(data) > LIMIT:
        raise ValueError(f"it is larger than {LIMIT} bytes")
    if data.count(b"{") + data.count(b"[") > _GROUPS or data.count(b",") > _VALUES:
        raise ValueError("it has too many values")
    document = json.loads(data.decode(), object_pairs_hook=_unique)
    level = [document]
    for _ in range(_DEPTH):
        level = [item for value in level for item in _items(value)]
        if not level:
            return document
    raise ValueError(f"it is deeper than {_DEPTH} levels")


def _items(value: object) -> Iterable[object]:
    """Return the keys and values in a value; `ValueError` for what could not be written again."""
    if isinstance(value, str):
        value.encode()  # which a lone surrogate cannot be
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that JSON cannot hold")
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key appears twice")
    return document
