"""Which repository and tag a key has."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packyard.sharing.stores.oci import spelling
from packyard.sharing.stores.oci.address import spell, unspell
from packyard.sharing.stores.oci.spelling import Place, place
from packyard.sharing.stores.store import digest_in
from sample import tries

TAG = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
PART = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,20}", fullmatch=True) | st.sampled_from(
    [
        "index",
        "1.0",
        "v2_7_0",
        "1.0+x",
        "_+_",
        "__",
        "_.x_.",
        "_.long_.",
        "_.name_.bert",
        "bert.tar.gz",
        "bert.tar.gz.sha256",
    ]
)
KEY = st.lists(PART, min_size=1, max_size=4).map("/".join)
EXAMPLES = tries(500)

SPELLED = {
    "1.2.0/bert.tar.gz": ("bert", "1.2.0"),
    "v2_7_0/bert.tar.gz": ("bert", "v2_7_0"),
    "1.2.0+cpu/bert.tar.gz": ("bert", "1.2.0_-cpu"),
    "1.2.0+cpu/bert.tar.gz.sha256": ("bert", "1.2.0_-cpu_.sha256"),
    "1.2.0/bert.tar.gz.intoto.json": ("bert", "1.2.0_.intoto.json"),
    "1.2.0/bert.tar.gz.spdx.json": ("bert", "1.2.0_.spdx.json"),
    "1_+_2/bert.tar.gz": ("bert", "1_.._-_2"),
    "1__2/bert.tar.gz": ("bert", "1_.._2"),
    "1_.2/bert.tar.gz": ("bert", "1_...2"),
    "1_/bert.tar.gz": ("bert", "1_"),
    "1_/bert.tar.gz.sha256": ("bert", "1__.sha256"),
    "1+.sha256/bert.tar.gz": ("bert", "1_-.sha256"),
    "1.2.0/index.tar.gz": ("index", "_.x_.1.2.0_.-index.tar.gz"),
    "1.2.0/bert.tar.gz.sig": ("index", "_.x_.1.2.0_.-bert.tar.gz.sig"),
    "1.2.0/Bert.tar.gz": ("index", "_.x_.1.2.0_.-Bert.tar.gz"),
    "1.2.0/bert.zip": ("index", "_.x_.1.2.0_.-bert.zip"),
    "latest/bert.tar.gz": ("index", "_.x_.latest_.-bert.tar.gz"),
    "a/1.2.0/bert.tar.gz": ("index", "_.x_.a_.-1.2.0_.-bert.tar.gz"),
    "index/index.json": ("index", "index.json"),
    "index/p/bert/7.json": ("index", "p_.-bert_.-7.json"),
    "index/yanked/v2_7_0/bert.json": ("index", "yanked_.-v2_7_0_.-bert.json"),
    "index": ("index", "_.x_.index"),
    "indexes/a": ("index", "_.x_.indexes_.-a"),
}


@pytest.mark.parametrize("key", SPELLED)
def test_a_key_is_spelled(key: str) -> None:
    repository, tag = SPELLED[key]
    assert place(key) == Place(repository=repository, tag=tag)
    assert spelling.key(repository, tag) == key


@settings(max_examples=EXAMPLES)
@given(KEY)
def test_every_key_is_a_tag_that_is_read_back(key: str) -> None:
    found = place(key)
    assert TAG.fullmatch(found.tag)
    assert spelling.named(found.tag) is None
    assert spelling.is_long(found.tag) or spelling.key(found.repository, found.tag) == key


@settings(max_examples=EXAMPLES)
@given(st.text("a1._+/-", max_size=12), st.text("a1._+/-", max_size=12))
def test_no_two_texts_are_spelled_alike(one: str, other: str) -> None:
    assert (spell(one) == spell(other)) == (one == other)
    assert unspell(spell(one)) == one
    assert not re.search(r"_\.[A-Za-z0-9]", spell(one))


@settings(max_examples=EXAMPLES)
@given(
    st.sampled_from(["index", "bert"]), st.from_regex(TAG, fullmatch=True) | st.text("a1._-", min_size=1, max_size=10)
)
def test_a_tag_is_of_one_key_or_of_none(repository: str, tag: str) -> None:
    key = spelling.key(repository, tag)
    assert key is None or place(key) == Place(repository=repository, tag=tag)


@pytest.mark.parametrize(
    "tag", ["latest", "sha256-" + "0" * 64, "1.0_.sig", "1_.", "_.name_.bert", "_.long_.00", "v", ""]
)
def test_what_is_no_tag_of_ours_has_no_key(tag: str) -> None:
    assert spelling.key("bert", tag) is None


def test_shards_and_records_name_their_digests() -> None:
    for key in (f"index/{'0a' * 32}.json", f"index/p/bert/{'0a' * 32}.json"):
        assert digest_in(key) == f"sha256:{'0a' * 32}"
    for key in (f"index/{'0' * 63}.json", f"index/{'A' * 64}.json", f"x/index/{'0' * 64}.json"):
        assert digest_in(key) is None
