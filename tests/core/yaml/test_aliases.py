"""Aliases followed: the node that each repeats, and what cannot be followed."""

from __future__ import annotations

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml import aliases
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import MappingNode, Node, SequenceNode, Source
from packyard.core.yaml.values import to_value


def follow(text: str) -> Node | None:
    (document,) = parse_text(Source("a.yaml", text))
    aliases.follow(document)
    return document.root


def test_an_alias_stands_aside_for_the_very_node_that_it_repeats() -> None:
    root = follow("a: &a {b: &b 1, c: *b}\nd: [*a, *b]\n")
    assert to_value(root) == {"a": {"b": 1, "c": 1}, "d": [{"b": 1, "c": 1}, 1]}
    assert isinstance(root, MappingNode)
    listed = root.get("d")
    assert isinstance(listed, SequenceNode)
    assert root.get("a") is listed.items[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: *b\n", r"a.yaml:1:4: \*b refers to nothing before it"),
        ("a: *b\nb: &b 1\n", "a.yaml:1:4: "),
        ("a: &a [1, [*a]]\n", r"a.yaml:1:12: \*a refers to a node that contains it"),
    ],
)
def test_refuses_what_cannot_be_followed_by_its_place(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        follow(text)


def test_anchors_are_those_of_one_document() -> None:
    _, second = parse_text(Source("a.yaml", "a: &a 1\n---\nb: *a\n"), is_part=True)
    with pytest.raises(InputError, match=r"a.yaml:3:4: "):
        aliases.follow(second)


def test_refuses_aliases_that_grow_without_bound() -> None:
    lines = ["a0: &a0 [1, 1]"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 12)]
    with pytest.raises(InputError, match="stand for more than 100000 values"):
        follow("\n".join(lines) + "\n")
