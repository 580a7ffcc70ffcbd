"""YAML inside of a text is found in the lines and columns that it has in its file."""

import pytest

from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode, Source
from packyard.core.yaml.span import embedded


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("- patch: |\n    a: 1\n\n    b: {c: here}\n", 4, 12),
        ("- patch: |-\n    a: 1\n    b: {c: here}", 3, 12),
        ('- {x: 1,\n   patch: "a: 1\\nb: {c: here}\\n"}\n', 3, 8),  # as if it began in its line
        ("- patch: >\n    {b: {c: here}}\n", 1, 9),
    ],
)
def test_yaml_inside_of_a_text_is_located_in_its_file(text: str, line: int, column: int) -> None:
    listed = parse_text(Source("a.yaml", text))[0].root
    assert isinstance(listed, SequenceNode)
    entry = listed.items[0].value
    patch = entry.get("patch") if isinstance(entry, MappingNode) else None
    assert isinstance(patch, Scalar)
    (document,) = parse_text(embedded(patch))
    assert isinstance(document.root, MappingNode)
    inner = document.root.mapping("b")
    here = inner.get("c") if inner else None
    assert here is not None
    assert here.source.name == "a.yaml"
    assert here.source.locate(here.start) == (line, column)
    assert here.lexeme == "here"
