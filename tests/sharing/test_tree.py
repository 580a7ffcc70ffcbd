"""The map that an index is made of: equal maps have equal nodes, a change is small, and no node is believed."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError
from packyard.sharing.index import tree
from packyard.sharing.index.tree import Node, Shape
from sample import tries

KEYS = st.text("ab0-é\U0001f600", min_size=1, max_size=6)
VALUES = st.one_of(st.integers(0, 9), st.text('xy\n"é', max_size=30), st.lists(st.booleans(), max_size=2))
CHANGES = st.lists(st.dictionaries(KEYS, st.one_of(st.none(), VALUES), max_size=12), max_size=12)


class Nodes:
    """Nodes in memory, which counts what is read."""

    def __init__(self) -> None:
        self.data: dict[Digest, bytes] = {}
        self.reads: list[int] = []

    def keep(self, node: Node) -> Digest:
        data = node.to_bytes()
        self.data[Digest.of(data)] = data
        return Digest.of(data)

    def read(self, digest: Digest) -> Node:
        self.reads.append(len(self.data[digest]))
        return Node.parse(self.data[digest], digest)

    def below(self, root: Node) -> set[Digest]:
        return set(tree.reach(root, self.read, lambda _: False))


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


#: Nodes that are so small that a few entries have many levels: cut anywhere, or not before some are in one.
TINY = (Shape(full=120, least=0, boundary=4), Shape(full=160, least=60, boundary=2))


def many(count: int) -> Iterator[tuple[str, object]]:
    return ((f"model-{number:07}", f"sha256:{number:064x}") for number in range(count))


@settings(max_examples=tries(150))
@given(CHANGES)
@example(
    [
        {"0": 0, "é": 0, "😀": 'xxxx"""""""""', "000": 'xxxxxx"""', "00é": 0, "000000": 0, "0000😀😀": 'xx""""'},
        {"0": None},
    ]
).via("a level that fits below one that does not")
@pytest.mark.nightly
def test_equal_maps_have_equal_nodes_in_whatever_order_their_entries_came(steps: list[dict[str, object]]) -> None:
    for shape in TINY:
        nodes, root, expected = Nodes(), Node(), dict[str, object]()
        for changes in steps:
            root = tree.update(root, changes, nodes.read, nodes.keep, shape)
            expected = {key: value for key, value in {**expected, **changes}.items() if value is not None}
        built = tree.build(iter(sorted(expected.items())), nodes.keep, shape)
        assert root == built
        assert nodes.below(root) == nodes.below(built)
        assert dict(tree.scan(root, nodes.read)) == expected
        assert [entry for leaf in tree.leaves(root, partial(map, nodes.read)) for entry in leaf.entries()] == sorted(
            expected.items()
        )
        assert all(tree.get(root, key, nodes.read) == expected.get(key) for step in steps for key in step)


def test_scans_what_begins_with_a_prefix_in_order(nodes: Nodes) -> None:
    root = tree.build(many(20_000), nodes.keep)
    assert [key for key, _ in tree.scan(root, nodes.read, "model-00123")] == [f"model-00123{n:02}" for n in range(100)]
    assert list(tree.scan(root, nodes.read, "model-9")) == list(tree.scan(root, nodes.read, "zoo")) == []
    assert list(tree.scan(root, nodes.read)) == list(many(20_000))


def test_a_small_map_is_its_root(nodes: Nodes) -> None:
    root = tree.build(many(100), nodes.keep)
    assert (root.level, len(root.keys), nodes.data) == (0, 100, {})
    assert Node.read(json.loads(json.dumps(root.document()))) == root
    assert tree.build([], nodes.keep) == tree.update(root, dict.fromkeys(root.keys), nodes.read, nodes.keep) == Node()


def test_a_lookup_reads_one_node_for_each_level_below_the_root(nodes: Nodes) -> None:
    root = tree.build(many(100_000), nodes.keep)
    for number in random.Random(1).sample(range(100_000), 50):
        nodes.reads.clear()
        assert tree.get(root, f"model-{number:07}", nodes.read) == f"sha256:{number:064x}"
        assert tree.get(root, f"model-{number:07}x", nodes.read) is None
        assert len(nodes.reads) <= 2 * root.level <= 4
        assert max(nodes.reads) < tree.SMALL.full + 300


def test_a_change_rewrites_about_one_node_for_each_level(nodes: Nodes) -> None:
    root = tree.build(many(100_000), nodes.keep)
    new = 0
    for number in random.Random(1).sample(range(100_000), 50):
        before = set(nodes.data)
        root = tree.update(root, {f"model-{number:07}x": "new"}, nodes.read, nodes.keep)
        new += len(nodes.data.keys() - before)
    assert new <= 50 * 2 * (root.level + 1)


@pytest.mark.nightly
def test_a_map_is_built_in_memory_that_does_not_grow_with_it() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            tree.build(many(count), lambda node: Digest.of(node.to_bytes()))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(40_000) < 1.5 * peak(10_000) < 1_500_000


def test_nodes_stay_small_and_few_levels_deep_whatever_keys_somebody_chooses(nodes: Nodes) -> None:
    every_key_may_end_a_node = replace(TINY[0], boundary=1)
    root = tree.build(many(4096), nodes.keep, every_key_may_end_a_node)
    assert root.level <= 12
    none_does_before_it_is_full = replace(TINY[0], least=TINY[0].full)
    tree.build(many(4096), nodes.keep, none_does_before_it_is_full)
    assert max(map(len, nodes.data.values())) < 500


def test_entries_come_in_order_and_one_that_is_too_large_is_refused(nodes: Nodes) -> None:
    with pytest.raises(ValueError, match="'a' comes after 'b'"):
        tree.build([("b", 1), ("a", 1)], nodes.keep)
    with pytest.raises(InputError, match=r"'a' takes 40008 bytes in the index: at most 32768"):
        tree.build([("a", "x" * 40_000)], nodes.keep)
    root = tree.build([(f"{number}", "x" * 32_000) for number in range(9)], nodes.keep)
    assert all(len(data) <= tree.LIMIT for data in nodes.data.values())
    assert len(dict(tree.scan(root, nodes.read))) == 9


# Nodes from elsewhere.


def test_a_node_with_other_bytes_is_refused(nodes: Nodes) -> None:
    root = tree.build(many(1000), nodes.keep)
    digest = Digest(str(root.values[0]))
    nodes.data[digest] = nodes.data[digest].replace(b"model-0000000", b"model-000000x")
    with pytest.raises(IntegrityError, match=rf"a node of the index: expected {digest}, found sha256:"):
        tree.get(root, "model-0000000", nodes.read)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"level": 0, "entries": {"b": 1, "a": 1}}, "entries: the keys are not in order"),
        ({"level": 0, "entries": {"": 1}}, "entries: the keys are not in order"),
        ({"level": 32, "entries": {}}, "level: expected fewer than 32 levels"),
        ({"level": -1, "entries": {}}, "level: expected a size, found -1"),
        ({"level": True, "entries": {}}, "level: expected a size"),
        ({"level": 1, "entries": {"a": 1}}, "entries.a: expected a text, found 1"),
        ({"level": 1, "entries": {"a": "x"}}, "entries.a: 'x' is not a digest"),
        ({"level": 0, "entries": []}, r"entries: expected an object, found list"),
        ({"level": 0}, "entries: is missing"),
    ],
)
def test_what_is_no_node_is_refused(document: dict[str, object], says: str) -> None:
    data = json.dumps({"apiVersion": "packyard/v1", "kind": "IndexNode", **document}).encode()
    with pytest.raises(IntegrityError, match=rf"^node {Digest.of(data)}: {says}"):
        Node.parse(data, Digest.of(data))


def test_a_node_from_another_place_is_refused(nodes: Nodes) -> None:
    root = tree.build(many(1000), nodes.keep)
    first, second = root.values[:2]
    wrong = {
        "exchanged": replace(root, values=(second, first, *root.values[2:])),
        "repeated": replace(root, values=(first, first, *root.values[2:])),
        "too high": replace(root, level=2),
        "above itself": replace(root, values=(nodes.keep(root), *root.values[1:])),
        "empty": replace(root, values=(nodes.keep(Node()), *root.values[1:])),
        "beyond its key": replace(root, keys=("a", *root.keys[1:])),
    }
    for spoiled in wrong.values():
        with pytest.raises(IntegrityError, match="this node belongs elsewhere"):
            list(tree.scan(spoiled, nodes.read))
    with pytest.raises(IntegrityError, match="belongs elsewhere"):
        tree.get(wrong["exchanged"], "a", nodes.read)
    with pytest.raises(IntegrityError, match="belongs elsewhere"):
        tree.update(wrong["exchanged"], {"a": 1}, nodes.read, nodes.keep)
