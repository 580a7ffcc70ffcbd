"""Trees as they are written, on lines of their own and in brackets, and how they read then."""

from __future__ import annotations

import pytest

from packyard.core.yaml.compare import reads
from packyard.core.yaml.content import Text, Tree, Written, block, double, flow, in_brackets, reading
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import Source

TREE: Tree = {
    "name": Text("a: b"),
    "list": ["1", Text("yes"), {"x": "1", "z": [["2"], {}]}, []],
    "quoted": double("1"),
    "text": Written('"l\\nm\\n"', "l\nm\n", ("|", "l", "m")),
    "short": in_brackets({"a": ["1"]}),
}
LINES = """\
name: 'a: b'
list:
- 1
- "yes"
- x: 1
  z:
  - - 2
  - {}
- []
quoted: "1"
text: |
  l
  m
short: {a: [1]}
"""
BRACKETS = (
    """{name: 'a: b', list: [1, "yes", {x: 1, z: [[2], {}]}, []], quoted: "1", text: "l\\nm\\n", short: {a: [1]}}"""
)


def test_is_written_on_lines_and_in_brackets() -> None:
    assert "".join(f"{line}\n" for line in block(TREE)) == LINES
    assert flow(TREE) == BRACKETS


@pytest.mark.parametrize("text", [LINES, BRACKETS])
def test_reads_as_it_says(text: str) -> None:
    root = parse_text(Source("a.yaml", text))[0].root
    assert root is not None
    assert reads(root, reading(TREE))
    assert not reads(root, reading({"name": "a"}))
