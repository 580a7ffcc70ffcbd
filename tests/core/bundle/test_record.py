"""Hostile JSON is refused: what would do harm when it is read, kept or written again."""

import json

import pytest

from packyard.core.bundle import record
from packyard.core.errors import IntegrityError


def document(value: str) -> bytes:
    return b'{"apiVersion": "packyard/v1", "kind": "Index", "x": %s}' % value.encode("utf-8", "surrogatepass")


def parse(data: bytes) -> record.Record:
    return record.parse(data, lambda fields: fields, kind="Index", file="index.json")


HOSTILE = {
    "deep lists": ("[" * 100 + "]" * 100, "deeper than 64 levels"),
    "deep objects": ('{"a":' * 100 + "1" + "}" * 100, "deeper than 64 levels"),
    "deeper than any stack": ("[" * 90_000 + "]" * 90_000, "recursion|deeper"),
    "a number of 5000 digits": ("9" * 5000, "value has 5000 digits"),
    "a number beyond all": ("1e999", "JSON cannot hold"),
    "no number": ("NaN", "JSON cannot hold"),
    "endless": ("-Infinity", "JSON cannot hold"),
    "a key twice": ('{"a": 1, "a": 2}', "a key appears twice"),
    "half a character": ('"\\ud800"', "surrogates not allowed"),
    "half a character as a key": ('{"\\udfff": 1}', "surrogates not allowed"),
    "half a character, raw": ('"\ud800"', "can't decode"),
    "a control character": ('"a\x00b"', "control character"),
    "too many lists": ("[" + "[]," * 300_000 + "0]", "too many values"),
    "too many objects": ("[" + "{}," * 300_000 + "0]", "too many values"),
    "too many values": ("[" + "0," * 1_100_000 + "0]", "too many values"),
    "too long": ('"' + "x" * record.LIMIT + '"', "larger than 8388608 bytes"),
    "a comma too many": ("[1,]", "Expecting value|trailing comma"),
    "two documents": ("1} {", "Extra data"),
    "nothing": ("", "Expecting value"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refuses_what_harms(name: str) -> None:
    value, says = HOSTILE[name]
    with pytest.raises(IntegrityError, match=rf"^index\.json: cannot be read as JSON: .*({says})"):
        parse(document(value))


READERS = (record.size, record.digest, record.list_of(record.size), record.map_of(record.text))


def test_what_is_refused_is_not_repeated_at_length() -> None:
    for value in ('"' + "x" * 1_000_000 + '"', json.dumps(["x" * 1_000_000]), json.dumps({"x" * 1_000_000: [1]})):
        for read in READERS:
            with pytest.raises(IntegrityError) as caught:
                record.parse(document(value), lambda fields, read=read: fields.take("x", read), kind="Index", file="x")
            assert len(str(caught.value)) < 300
    with pytest.raises(IntegrityError) as caught:
        parse(document("1").replace(b"Index", b"x" * 1_000_000))
    assert len(str(caught.value)) < 300


def test_what_is_read_is_written_again() -> None:
    value = json.dumps({"é": [0, -1, 1.5, 2**63, None, True, "\U0001f600", {"a": [[[{}]]]}]}, ensure_ascii=False)
    data = record.to_bytes(json.loads(document(value)))
    assert record.to_bytes({**parse(data).rest(), "apiVersion": "packyard/v1", "kind": "Index"}) == data
