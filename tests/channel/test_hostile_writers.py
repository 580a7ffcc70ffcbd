"""Somebody can write to a channel and has no key: whatever is there, no publisher signs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channel.examples import bundle
from channel.test_provenance import KEY, OTHER, TRUST
from packyard.channel import head, index, pending
from packyard.channel.close import close
from packyard.channel.entry import IndexEntry
from packyard.channel.keys import NOBODY, Trust
from packyard.channel.publish import join, publish
from packyard.channel.reindex import reindex
from packyard.channel.stores.directory import DirectoryStore
from packyard.channel.yank import yank
from packyard.errors import IntegrityError

EVIL = bundle("evil", "6.6.6")


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    """Return a signed channel with a bundle, beside which somebody has put another one."""
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [bundle()], keys=[KEY])
    elsewhere = DirectoryStore(tmp_path / "elsewhere")
    publish(elsewhere, [EVIL])
    for key in elsewhere.list("6.6.6/"):
        store.put(key, elsewhere.get(key))
    return store


def _forge(store: DirectoryStore) -> None:
    """Write an unsigned head that lists what nobody signed."""
    before = index.read(store)
    after = before.add(IndexEntry.of(EVIL))
    after.write()
    head.create(store, replace(after.head, number=before.head.number + 1, history=before.head.next_history()), [])


@pytest.mark.parametrize("trusted", [NOBODY, TRUST])
def test_who_signs_does_not_vouch_for_a_head_that_somebody_else_wrote(store: DirectoryStore, trusted: Trust) -> None:
    _forge(store)
    for act in (
        lambda: publish(store, [bundle("gpt")], keys=[KEY], trusted=trusted),
        lambda: yank(store, "bert@1.0", "diverges", keys=[KEY], trusted=trusted),
        lambda: close(store, "1.0", keys=[KEY], trusted=trusted),
        lambda: index.revoke(store, OTHER.public.id, keys=[KEY], trusted=trusted),
    ):
        with pytest.raises(IntegrityError, match="is not signed"):
            act()


@pytest.mark.parametrize("trusted", [NOBODY, TRUST])
def test_who_signs_does_not_list_what_somebody_else_has_pending(store: DirectoryStore, trusted: Trust) -> None:
    pending.put(store, [IndexEntry.of(EVIL)], [])
    pending.put(store, [IndexEntry.of(EVIL)], [OTHER])
    publish(store, [bundle("gpt")], keys=[KEY], trusted=trusted)
    join(store, keys=[KEY], trusted=trusted)
    assert [str(entry) for entry in index.read(store, TRUST).entries] == ["bert@1.0", "gpt@1.0"]


def test_a_channel_that_is_not_signed_is_signed_by_reindex_alone(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "unsigned")
    publish(store, [bundle()])
    with pytest.raises(IntegrityError, match="is not signed") as caught:
        publish(store, [bundle("gpt")], keys=[KEY])
    assert "packyard reindex CHANNEL --key NAME" in caught.value.problems[0].hint
    reindex(store, keys=[KEY])
    publish(store, [bundle("gpt")], keys=[KEY])
    assert [str(entry) for entry in index.read(store, TRUST).entries] == ["bert@1.0", "gpt@1.0"]
