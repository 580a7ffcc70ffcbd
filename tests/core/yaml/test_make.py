"""Nodes that no file has: copies that change alone, and what is made of values, as the layout writes it."""

from __future__ import annotations

import pytest

from packyard.core.yaml import layout, make
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import MappingNode, SequenceNode, Source

TEXT = "a: &a # here\n  # above\n  b: [1, {c: 'x'}] # behind\n"


def root(text: str = TEXT) -> MappingNode:
    found = parse_text(Source("a.yaml", text))[0].root
    assert isinstance(found, MappingNode)
    return found


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\n b\n\nc\n", "k: |\n  a\n   b\n\n  c\n"),
        ("no line break", 'k: "no line break"\n'),
        (" begins with a blank\n", 'k: " begins with a blank\\n"\n'),
        ("a\tb\n", 'k: "a\\tb\\n"\n'),
        ("two\n\n", 'k: "two\\n\\n"\n'),
    ],
)
def test_a_text_is_a_literal_block_where_that_keeps_every_character(text: str, written: str) -> None:
    assert layout.write(make.mapping("a.yaml", {"k": make.literal(text, "a.yaml")})).decode() == written


def test_texts_are_quoted_where_they_would_be_read_as_something_else() -> None:
    found = parse_text(Source("a.yaml", "- x"))[0].root
    assert isinstance(found, SequenceNode)
    made = make.mapping("a.yaml", {"a": "text", "b": "1", "yes": make.sequence("a.yaml", found.items)})
    assert layout.write(made) == b'a: text\nb: "1"\n"yes":\n- x\n'
