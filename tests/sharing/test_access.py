"""Who may read a channel, and go on from it: what was remembered, who signed it, and who publishes there."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError
from packyard.core.files.regular import LIMIT
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching import fetch as fetching
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.access import Memory, OlderError, Publisher
from packyard.sharing.index.index import KEY as INDEX
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.withdrawal import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from sharing.examples import BY, OWN, TRUSTED, bundle, close, proof, publish, versions

OTHER = SigningKey.new()


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [bundle()], by=BY)
    return store


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(file=tmp_path / "memory" / "channel.json")


def forge(store: DirectoryStore, name: str = "evil") -> None:
    """Let the index list what nobody signed, under the number that follows."""
    before = access.read(store)
    after = before.add(IndexEntry.of(bundle(name, "6.6.6")))
    for key, data in after.files.items():
        store.put(key, data)
    (store.root_dir / INDEX).write_bytes(replace(after, number=before.number + 1).payload())


def changes(store: DirectoryStore, by: Publisher) -> list[Callable[[], object]]:
    return [
        lambda: publish(store, [bundle("gpt")], by=by),
        lambda: yank(store, "bert@1.0", "diverges", by=by),
        lambda: close(store, "1.0", by=by),
    ]


# Reading.


def test_an_older_index_is_asked_for_once_more_and_then_told_with_both_numbers(
    store: DirectoryStore, memory: Memory, tmp_path: Path
) -> None:
    access.read(store, TRUSTED, memory)
    old, records = store.get(INDEX), {key: store.get(key) for key in access.read(store).files_below()}
    publisher = replace(BY, memory=Memory(file=tmp_path / "publisher.json"))
    publish(store, [bundle("bert", "1.1")], by=publisher)
    new, asked = store.get(INDEX), list[str]()
    access.read(store, TRUSTED, memory)

    class Edges(DirectoryStore):
        """Answers with what another cache has, a few times."""

        def get(self, key: str, *, limit: int = LIMIT) -> bytes:
            asked.append(key)
            lags = key == INDEX and len(asked) <= lagging
            return old if lags else new if key == INDEX else super().get(key, limit=limit)

    lagging = 1
    assert access.read(Edges(store.root_dir), TRUSTED, memory).number == 3
    lagging = 1000
    says = r"shows an older index than before: number 2, after number 3 \(a cache may be .* packyard keys untrust"
    for remembered in (memory, publisher.memory):
        with pytest.raises(OlderError, match=says):
            access.read(Edges(store.root_dir), TRUSTED, remembered)
    warned: list[str] = []
    how = Fetching(trusted=TRUSTED, memory=memory, warn=warned.append)
    fetched = fetching.fetch(Edges(store.root_dir), Reference.parse("bert@1.1"), how)
    assert fetched.bundle == bundle("bert", "1.1")
    assert fetched.proof.listed_by == (OWN.public.id,)
    assert "number 2, after number 3" in warned[0]
    with pytest.raises(OlderError):
        fetching.fetch(Edges(store.root_dir), Reference.parse("bert"), how)
    shutil.rmtree(store.root_dir / "index/p/bert")  # the other cache has no record but the old one
    for key, data in records.items():
        store.put(key, data)
    assert fetching.fetch(Edges(store.root_dir), Reference.parse("bert@1.0"), how).bundle == bundle()


def test_another_channel_and_a_lost_index_are_told_with_the_command_that_forgets(
    store: DirectoryStore, memory: Memory, tmp_path: Path
) -> None:
    before = access.read(store, TRUSTED, memory).channel
    publish(other := DirectoryStore(tmp_path / "other"), [bundle()], by=BY)
    shutil.rmtree(store.root_dir)
    shutil.copytree(other.root_dir, store.root_dir)
    there = access.read(store).channel
    says = f"its id was {before}, and is {there} .*packyard keys untrust"
    for act in (lambda: access.read(store, TRUSTED, memory), *changes(store, replace(BY, memory=memory))):
        with pytest.raises(IntegrityError, match=says):
            act()
    (store.root_dir / INDEX).unlink()
    with pytest.raises(IntegrityError, match=r"has no index any more, and had number 2 .*packyard keys untrust"):
        access.read(store, TRUSTED, memory)


def test_a_channel_that_was_signed_is_refused_unsigned_by_readers_and_publishers(
    store: DirectoryStore, memory: Memory
) -> None:
    access.read(store, NOBODY, memory)
    forge(store)
    access.read(store)  # who never saw it signed
    says = "was signed before, and is not signed now .*packyard keys untrust"
    for act in (lambda: access.read(store, NOBODY, memory), *changes(store, Publisher(key=OWN, memory=memory))):
        with pytest.raises(IntegrityError, match=says):
            act()
    for act in (lambda: access.read(store, TRUSTED), *changes(store, BY)):
        with pytest.raises(IntegrityError, match="is not signed, and you require the signature of"):
            act()


def test_a_job_without_memory_or_trust_does_not_sign_what_lost_its_signature_until_it_is_repaired(
    tmp_path: Path,
) -> None:
    store, job = DirectoryStore(tmp_path), Publisher(key=OWN)
    publish(store, [bundle()], by=job, attest=partial(proof, key=OWN))
    forge(store, "bert")
    for act in changes(store, job):
        with pytest.raises(IntegrityError, match=r"its index any more, and you signed bert@1\.0 .* --repair --key"):
            act()
    fsck.repair(store, job)
    yank(store, "bert@6.6.6", "forged", by=job)
    assert access.read(store, TRUSTED).signers == (OWN.public.id,)


def test_a_damaged_memory_is_said_to_be_one(store: DirectoryStore, memory: Memory) -> None:
    access.read(store, TRUSTED, memory)
    memory.file.write_bytes(b"{}")
    with pytest.raises(IntegrityError, match=rf"{memory.file}: .*remove the file to forget"):
        access.read(store, TRUSTED, memory)
    memory.file.unlink()
    memory.file.parent.rmdir()
    memory.file.parent.write_text("")
    assert access.read(store, TRUSTED, memory).number == 2, "one that cannot be written is no reason to fail"


# Publishing.


def test_a_channel_is_signed_from_the_first_publish_with_a_key_on_which_is_told(tmp_path: Path) -> None:
    store, told = DirectoryStore(tmp_path / "channel"), list[str]()
    publish(store, [bundle(), bundle("gpt")])
    by = Publisher(key=OWN, tell=told.append)
    assert [status for _, status in publish(store, [bundle()], by=by)] == ["unchanged"]
    assert told == [f"your key now signs all that {store.address} lists: bert, gpt"]
    assert access.read(store, TRUSTED).signers == (OWN.public.id,)
    publish(store, [bundle("t5")], by=by)
    assert len(told) == 1


def test_a_signed_channel_is_changed_by_its_own_keys_alone(store: DirectoryStore) -> None:
    before = store.get(INDEX)
    for by, error, says in (
        (Publisher(), InputError, "its index is signed, and you have no key"),
        (Publisher(key=OTHER), IntegrityError, f"names {OWN.public.id[:19]}… as its signer, which you do not trust"),
        (Publisher(trusted=TRUSTED), InputError, "must be signed by .*, and you have no key"),
        (Publisher(key=OTHER, trusted=TRUSTED), InputError, "must be signed by .*, and your key is"),
    ):
        for act in changes(store, by):
            with pytest.raises(error, match=says):
                act()
    assert store.get(INDEX) == before
    publish(store, [bundle("gpt")], by=Publisher(key=OTHER, trusted=Trust.of(OWN.public, OTHER.public)))
    assert access.read(store).claimants == (OTHER.public.id,)


def test_publish_lists_nothing_beside_which_somebody_put_other_provenance(store: DirectoryStore) -> None:
    made = bundle("gpt")
    for other, by in ((made, None), (made, OTHER), (bundle("gpt", text="other"), OWN)):
        ((key, statement),) = proof(IndexEntry.of(other), by).items()
        store.put(key, statement)
        with pytest.raises(IntegrityError, match=r"1\.0/gpt\.tar\.gz\.(intoto|sigstore)\.json: (is|names)") as caught:
            publish(store, [made], by=Publisher(key=OWN))
        assert "remove that file" in caught.value.problems[0].hint
        (store.root_dir / key).unlink()
    assert versions(access.read(store), "gpt") == []
