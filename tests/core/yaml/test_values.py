"""Values with aliases and merge keys followed, and the places that their parts came from."""

import pytest

from packyard.core.yaml import aliases
from packyard.core.yaml.node import Node, Source
from packyard.core.yaml.values import nearest, to_value


def read(text: str) -> Node:
    (document,) = aliases.read(Source("a.yaml", text))
    assert document.root is not None
    return document.root


TEXT = """\
one: &one {cpu: 4, memory: 1Gi}
two: &two {gpu: 1, cpu: 8}
job:
  <<: [*one, *two]
  gpu: 2
list: &list [a, 08, !!str 8, "8"]
again: *list
"""


def test_follows_aliases_and_merge_keys() -> None:
    one, words = {"cpu": 4, "memory": "1Gi"}, ["a", 8, "8", "8"]
    job = {"gpu": 2, "cpu": 4, "memory": "1Gi"}
    assert to_value(read(TEXT)) == {"one": one, "two": {"gpu": 1, "cpu": 8}, "job": job, "list": words, "again": words}


@pytest.mark.parametrize(
    ("path", "line", "lexeme"),
    [
        (("job", "gpu"), 5, "2"),
        (("job", "cpu"), 1, "4"),
        (("job", "memory"), 1, "1Gi"),
        (("again", 0), 6, "a"),
        (("again", 9), 6, '&list [a, 08, !!str 8, "8"]'),
        (("one", "none", "deeper"), 1, "&one {cpu: 4, memory: 1Gi}"),
    ],
)
def test_finds_the_node_of_a_path_or_the_nearest_above(path: tuple[str | int, ...], line: int, lexeme: str) -> None:
    _, node = nearest(read(TEXT), path)
    assert (node.source.locate(node.start)[0], node.lexeme) == (line, lexeme)
