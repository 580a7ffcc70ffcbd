"""Documents: spans that are exact, comments beside their nodes, and the sparse reading of large files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from core.yaml.yaml_files import COMMENT, File, files
from packyard.core.errors import InputError
from packyard.core.yaml.document import parse_file, parse_one, parse_text, walk
from packyard.core.yaml.node import Node, Scalar, Source
from sample import tries


def scalars(node: Node | None) -> list[Scalar]:
    return [inner for inner in walk(node) if isinstance(inner, Scalar)]


def bound(node: Node | None) -> list[tuple[str, str]]:
    return [
        (inner.lexeme, inner.comment.text) for inner in scalars(node) if inner.comment and COMMENT in inner.comment.text
    ]


@pytest.mark.nightly
@settings(max_examples=tries(300))
@given(file=files())
def test_reading_around_some_comments_finds_what_a_full_reading_finds(file: File) -> None:
    source = Source("r.yaml", file.text())
    full, sparse = parse_text(source), parse_text(source, around=[COMMENT])
    assert [bound(document.root) for document in sparse] == [bound(document.root) for document in full]
    kept = sum(len(scalars(document.root)) for document in sparse)
    assert kept <= sum(len(scalars(document.root)) for document in full)


def test_reading_around_some_comments_keeps_little_of_a_large_file() -> None:
    text = "items:\n" + "".join(f"- name: n{number}\n  value: v\n" for number in range(5000)) + f"x: 1 {COMMENT}\n"
    document = parse_text(Source("r.yaml", text), around=[COMMENT])[0]
    assert len(scalars(document.root)) < 10
    assert bound(document.root) == [("1", COMMENT)]


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
