"""Somebody can write to a channel and has no key: whatever is there, no publisher signs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from packyard.core.errors import IntegrityError
from packyard.sharing.entry import PROVENANCE, IndexEntry, bundle_key
from packyard.sharing.index import access, head, pending
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.join import join
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keys import NOBODY, Trust
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import bundle
from sharing.test_provenance import KEY, OTHER, TRUST

EVIL = bundle("evil", "6.6.6")


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    """Return a signed channel with a bundle, beside which somebody has put another one."""
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [bundle()], by=Publisher(keys=[KEY]))
    elsewhere = DirectoryStore(tmp_path / "elsewhere")
    publish(elsewhere, [EVIL])
    for key in elsewhere.list("6.6.6/"):
        store.put(key, elsewhere.get(key))
    return store


def _forge(store: DirectoryStore) -> None:
    """Write an unsigned head that lists what nobody signed."""
    before = access.read(store)
    after = before.add(IndexEntry.of(EVIL))
    after.write()
    head.create(store, replace(after.head, number=before.head.number + 1, history=before.head.next_history()), [])


@pytest.mark.parametrize("trusted", [NOBODY, TRUST])
def test_who_signs_does_not_vouch_for_a_head_that_somebody_else_wrote(store: DirectoryStore, trusted: Trust) -> None:
    _forge(store)
    for act in (
        lambda: publish(store, [bundle("gpt")], by=Publisher(keys=[KEY], trusted=trusted)),
        lambda: yank(store, "bert@1.0", "diverges", by=Publisher(keys=[KEY], trusted=trusted)),
        lambda: close(store, "1.0", by=Publisher(keys=[KEY], trusted=trusted)),
    ):
        with pytest.raises(IntegrityError, match="is not signed"):
            act()


@pytest.mark.parametrize("trusted", [NOBODY, TRUST])
def test_who_signs_does_not_list_what_somebody_else_has_pending(store: DirectoryStore, trusted: Trust) -> None:
    for keys in ([], [OTHER]):
        pending.put(store, [IndexEntry.of(EVIL)], keys, access.read(store).head.channel)
    publish(store, [bundle("gpt")], by=Publisher(keys=[KEY], trusted=trusted))
    join(store, by=Publisher(keys=[KEY], trusted=trusted))
    assert [str(entry) for entry in access.read(store, TRUST).entries] == ["bert@1.0", "gpt@1.0"]


def test_records_that_are_refused_keep_no_other_from_being_listed(store: DirectoryStore) -> None:
    publish(store, [bundle("gpt")], by=Publisher(keys=[KEY]), is_listed=False)
    for number in range(7):
        store.put(f"{pending.FOLDER}{number:064x}.json", b"x")
    assert list(pending.find(store, access.read(store).head, TRUST, most_refused=6)) == []
    join(store, by=Publisher(keys=[KEY], trusted=TRUST))
    assert [str(entry) for entry in access.read(store, TRUST).entries] == ["bert@1.0", "gpt@1.0"]


def test_a_channel_that_is_not_signed_is_signed_by_reindex_alone(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "unsigned")
    publish(store, [bundle()])
    with pytest.raises(IntegrityError, match="is not signed") as caught:
        publish(store, [bundle("gpt")], by=Publisher(keys=[KEY]))
    assert "packyard fsck CHANNEL --repair --key NAME" in caught.value.problems[0].hint
    reindex(store, by=Publisher(keys=[KEY]))
    publish(store, [bundle("gpt")], by=Publisher(keys=[KEY]))
    assert [str(entry) for entry in access.read(store, TRUST).entries] == ["bert@1.0", "gpt@1.0"]


def _lose(store: DirectoryStore, start: str) -> None:
    """Remove files that no packyard removes."""
    for key in store.list(start):
        (Path(store.address) / key).unlink()


@pytest.mark.parametrize("damaged", ["", head.POINTER, "index/nodes/"])
def test_reindex_refuses_to_forget_a_bundle_that_somebody_removed(store: DirectoryStore, damaged: str) -> None:
    publish(store, [bundle("gpt")], by=Publisher(keys=[KEY]))
    if damaged:
        file = Path(store.address) / store.list(damaged)[0]
        file.write_bytes(b"{}")
    _lose(store, "1.0/bert")
    heads = store.list(head.FOLDER)
    with pytest.raises(IntegrityError, match=r"1\.0/bert\.tar\.gz: is listed"):
        reindex(store, by=Publisher(keys=[KEY]))
    assert store.list(head.FOLDER) == heads


def test_reindex_takes_no_yank_and_no_close_back(store: DirectoryStore) -> None:
    yank(store, "bert@1.0", "diverges", by=Publisher(keys=[KEY]))
    close(store, "1.0", by=Publisher(keys=[KEY]))
    for place in ("index/yanked/", "index/closed/", head.POINTER, "6.6.6/"):
        _lose(store, place)
    before = access.read(store, TRUST).head
    head.create(store, head.Head(number=before.number + 1, history=before.next_history()), [])
    made, _ = reindex(store, by=Publisher(keys=[KEY]))
    assert made.named("bert").get("1.0").yanked == "diverges"
    assert made.released("1.0").closed
    assert access.read(store, TRUST).head == made.head


def test_a_publisher_follows_no_head_that_is_older_than_the_one_it_saw(store: DirectoryStore, tmp_path: Path) -> None:
    memory = head.Memory(file=tmp_path / "memory.json")
    publish(store, [bundle("gpt")], by=Publisher(keys=[KEY], memory=memory))
    remembered = memory.read()
    assert remembered.digest == access.read(store).head.digest
    older = store.get(head.key(remembered.number - 1))
    Path(store.address, head.key(remembered.number)).unlink()
    Path(store.address, head.POINTER).write_bytes(older)
    for act in (
        lambda: publish(store, [bundle("t5")], by=Publisher(keys=[KEY], memory=memory)),
        lambda: yank(store, "bert@1.0", "diverges", by=Publisher(keys=[KEY], memory=memory)),
        lambda: close(store, "1.0", by=Publisher(keys=[KEY], memory=memory)),
    ):
        with pytest.raises(IntegrityError, match="is older than before"):
            act()
    with pytest.raises(IntegrityError, match="is not the head that was there before"):
        reindex(store, by=Publisher(keys=[KEY], memory=memory))


def test_publish_lists_nothing_beside_which_somebody_put_other_provenance(store: DirectoryStore) -> None:
    made = bundle("gpt")
    for other, keys in ((made, []), (made, [OTHER]), (bundle("gpt", text="other"), [KEY])):
        key = bundle_key("gpt", "1.0", PROVENANCE)
        store.put(key, Provenance.of(other, {}, None, libraries={}).to_bytes(keys))
        with pytest.raises(IntegrityError, match=r"1\.0/gpt\.tar\.gz\.intoto\.json: is") as caught:
            publish(store, [made], by=Publisher(keys=[KEY]))
        assert "remove that file" in caught.value.problems[0].hint
        Path(store.address, key).unlink()
    assert access.read(store).versions("gpt") == ()
    publish(store, [made], by=Publisher(keys=[KEY]))


def test_provenance_that_others_signed_stays_where_it_came_with_the_bundle(store: DirectoryStore) -> None:
    key, made = bundle_key("gpt", "1.0", PROVENANCE), bundle("gpt")
    signed = Provenance.of(made, {}, None, libraries={}).to_bytes([OTHER])
    store.put(key, signed)
    publish(store, [made], attest=lambda _: {key: signed}, by=Publisher(keys=[KEY]))
    assert access.read(store, TRUST).versions("gpt") == ("1.0",)
