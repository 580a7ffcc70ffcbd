"""Documents: what cannot be read is refused by file and line."""

from __future__ import annotations

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml.document import parse_file, parse_one


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: 1\nb: [\n", r"r\.yaml:3:1: did not find expected node content"),
        (b"a: 1\na: 2\n", r"r\.yaml:2:1: key 'a' occurs twice in one mapping"),
        (b"a: 1\nb: \xff\n", r"r\.yaml:2: not UTF-8: byte 0xff"),
        (b"a: 1\nb: \x00\n", r"r\.yaml:2:4: "),
        (b"a: " + b"[" * 300, r"r\.yaml:1:203: nested deeper than 200 levels"),
        (b"a: 1\n---\nb: 2\n", r"r\.yaml: holds 2 YAML documents where one is expected"),
        (b"\ta: 1\n", r"r\.yaml:1:1: found character that cannot start any token"),
    ],
)
def test_refuses_what_it_cannot_read_by_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_one(data, "r.yaml")


def test_a_very_deep_file_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="nested deeper"):
        parse_file(b"- " * 10_000 + b"a\n", "r.yaml")
