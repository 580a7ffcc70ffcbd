"""Entries added, replaced and removed in the form that a mapping has, each edit proved."""

from collections.abc import Mapping

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml.content import Text, Tree, double, in_brackets
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import MappingNode, Source
from packyard.core.yaml.proof import apply_to_text
from packyard.core.yaml.splice import add, change


def root(text: str) -> MappingNode:
    found = parse_text(Source("a.yaml", text))[0].root
    assert isinstance(found, MappingNode)
    return found


def changed(text: str, wanted: Mapping[str, Tree | None]) -> str:
    node = root(text)
    return apply_to_text(node.source, change(node, wanted))


def added(text: str, *path: str, **entries: Tree) -> str:
    node = root(text)
    return apply_to_text(node.source, add(node, path, entries))


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ("a: 1 # one\nb: 2\n", {"a": "3"}, "a: 3 # one\nb: 2\n"),
        ("a: 1\nb: 2 # two\n# end\n", {"c": Text("4"), "a": None}, 'b: 2 # two\nc: "4"\n# end\n'),
        ("a: 1\r\nb: 2", {"c": "3"}, "a: 1\r\nb: 2\r\nc: 3"),
        ("{a: 1, b: 2}\n", {"a": None, "c": ["3"]}, "{b: 2, c: [3]}\n"),
        ("a: # list\n- p # first\n- q\n", {"a": [double("q"), double("r")]}, 'a: # list\n- q\n- "r"\n'),
        ("a:\nb: 1\n", {"a": [double("x")]}, 'a: ["x"]\nb: 1\n'),
        ("b: 1\n", {"a": ["x", "y"]}, "b: 1\na:\n- x\n- y\n"),
        ("b: 1\n", {"a": in_brackets(["x", "y"])}, "b: 1\na: [x, y]\n"),
        ("a: &x !!str old\n", {"a": Text("new")}, "a: &x !!str new\n"),
        ("a: |\n  text\n", {"b": "1"}, "a: |\n  text\nb: 1\n"),
    ],
)
def test_changes_entries_and_nothing_else(before: str, wanted: Mapping[str, Tree | None], after: str) -> None:
    assert changed(before, wanted) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k: 1\n", "k: 1\na:\n  b:\n    c: 1\n"),
        ("a:\nk: 1\n", "a:\n  b:\n    c: 1\nk: 1\n"),
        ("a: {} # note\n", "a: # note\n  b:\n    c: 1\n"),
        ("a:\n    b:\n        d: 2\nk: 1\n", "a:\n    b:\n        d: 2\n        c: 1\nk: 1\n"),
        ("{k: 1}\n", "{k: 1, a: {b: {c: 1}}}\n"),
        ("a: {b: {}}\n", "a: {b: {c: 1}}\n"),
    ],
)
def test_adds_entries_at_a_path_and_makes_what_is_missing_on_the_way(before: str, after: str) -> None:
    assert added(before, "a", "b", c="1") == after


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        ("a: [1]\n", {"a": "2"}, r"a.yaml:1:4: a must be a text, and is written as '\[1\]'"),
        ("a: 1\n", {"a": ["2"]}, "a.yaml:1:4: a must be a list"),
        ("a: 1\n", {"a": None, "b": "1"}, "nothing can be added to a mapping that is empty"),
        ("? a\n: 1\n", {"b": "1"}, "nothing can be added to a mapping whose first key shares its line with"),
        ("x: 1\ny: {a: 1}\nz: [{a: 1}]\n", {"y": "1"}, "a.yaml:2:4: y must be a text"),
    ],
)
def test_refuses_by_place_what_cannot_be_changed_exactly(
    text: str, wanted: Mapping[str, Tree | None], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        changed(text, wanted)


def test_refuses_a_path_through_what_is_no_mapping() -> None:
    with pytest.raises(InputError, match=r"a.yaml:1:4: a must be a mapping"):
        added("a: [1]\n", "a", "b", c="1")
