"""Searching by words: what is found, and how little is read for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import InputError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access, head, words
from packyard.sharing.index.index import Index
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.search import MOST, search
from sharing import many_names
from sharing.examples import CountingStore


def entry(name: str, description: str = "", version: str = "1.0", **model: str) -> IndexEntry:
    return IndexEntry(
        name=name, version=version, tar=Digest.of(name.encode()), digest=Digest.of(b""), size=0,
        model=model, description=description,
    )  # fmt: skip


ENTRIES = [
    entry("resnet50v1-5-fp32-training-k8s", "ResNet50 v1.5: Trains on ImageNet.", category="image-recognition"),
    entry("resnet50-int8-inference", "Predicts.", category="image-recognition", framework="tensorflow"),
    entry("bert-large", "BERT Large: Trainiert auf Größe.", framework="pytorch"),
]
LISTED = Index().add(*ENTRIES)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("resnet50", ["resnet50-int8-inference", "resnet50v1-5-fp32-training-k8s"]),
        ("resnet train", ["resnet50v1-5-fp32-training-k8s"]),
        ("RESNET50V1-5", ["resnet50v1-5-fp32-training-k8s"]),
        ("image recognition tensorflow", ["resnet50-int8-inference"]),
        ("GRÖSSE", ["bert-large"]),
        ("bert resnet", []),
        ("nothing", []),
        ("net50", []),
    ],
)
def test_finds_packages_that_have_words_which_begin_so(asked: str, names: list[str]) -> None:
    found = search(LISTED, asked.split())
    assert ([package.name for package in found.packages], found.is_all) == (names, True)


@pytest.mark.parametrize("asked", [[], ["-"], ["a b c d e f", "g h i j k"]])
def test_refuses_no_words_and_too_many(asked: list[str]) -> None:
    with pytest.raises(InputError, match=r"expected 1 to 10 words, found (0|11)"):
        search(LISTED, asked)


def test_follows_what_the_latest_version_says() -> None:
    later = LISTED.add(entry("bert-large", "Renamed: now BigBird.", "2.0"))
    assert [package.name for package in search(later, ["bigbird"]).packages] == ["bert-large"]
    assert search(later, ["trainiert"]).packages == ()
    yanked = later.yank(later.named("bert-large").get("2.0"), "oh")
    assert search(yanked, ["bigbird"]).packages == ()
    assert search(yanked, ["trainiert"]).packages
    assert yanked.head.words == LISTED.head.words
    every = LISTED.yank(LISTED.named("bert-large").get("1.0"), "oh")
    assert search(every, ["bert"]).packages == ()


def test_a_package_has_a_bounded_number_of_bounded_words() -> None:
    package = Index().add(entry("a", " ".join(f"w{n}" + "x" * 100 for n in range(300)))).named("a")
    assert len(words.of(package)) == 100
    assert max(map(len, words.of(package))) == 40


def test_reads_little_however_many_packages_there_are(tmp_path: Path) -> None:
    store, count = many_names.DatabaseStore(tmp_path / "store"), 5000
    nodes = Nodes(store, writes_at_once=True)
    made = Index.of_entries((entry(f"model-{n:05}-training", f"Trains model {n}.") for n in range(count)), nodes)
    head.create(store, replace(made.head, number=1), [])
    for asked in (["model"], ["model", "trains"], ["04321"], ["model", "04321", "training"], ["model", "nothing"]):
        listed = access.read(store)
        counting = CountingStore(store)
        found = search(Index(head=listed.head, nodes=Nodes(counting)), asked)
        assert counting.count <= 60 + 15 * len(asked)
        assert counting.bytes <= (1 << 20) + len(asked) * (256 << 10)
        if "04321" in asked:
            assert ([each.name for each in found.packages], found.is_all) == (["model-04321-training"], True)
        elif "nothing" not in asked:
            assert (len(found.packages), found.is_all) == (MOST, False)
