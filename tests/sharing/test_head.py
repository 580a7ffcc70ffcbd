"""The heads of an index: created once, found from anywhere, and never older than one that was seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError
from packyard.sharing.index import head
from packyard.sharing.index.head import Head, Memory
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from sharing.examples import CountingStore

KEY, OTHER = SigningKey.new(), SigningKey.new()
TRUSTED = Trust.of(KEY.public)


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "channel")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(file=tmp_path / "state" / "head.json")


def grow(store: DirectoryStore, count: int, **changes: object) -> list[Head]:
    """Create more heads, each with what ``changes`` says, and return them."""
    made = []
    before = head.latest(store) if (store.root_dir / "index").exists() else None
    for _ in range(count):
        number = before.number + 1 if before else 1
        history = before.next_history() if before else {}
        before = head.create(store, Head(number=number, history=history, **changes), [KEY])  # type: ignore[arg-type]
        made.append(before)
    return made


def test_a_head_reads_back_what_was_written(store: DirectoryStore) -> None:
    made = grow(store, 3, extra={"comment": "é"}, revoked=(OTHER.public.id,))
    assert head.latest(store) == made[-1]
    assert store.get(head.POINTER) == store.get("index/heads/3.json")
    assert made[-1].digest == Digest.of(store.get("index/heads/3.json"))
    assert [sorted(each.history) for each in made] == [[], [1], [2]]


def test_a_head_is_created_once(store: DirectoryStore) -> None:
    (first,) = grow(store, 1)
    history = first.next_history()
    head.create(store, Head(number=2, history=history), [])
    head.create(store, Head(number=2, history=history), [])
    with pytest.raises(ConflictError):
        head.create(store, Head(number=2, history=history, extra={"other": 1}), [])
    latest = head.latest(store)
    assert latest
    assert (latest.number, latest.extra) == (2, {})


def test_links_go_back_in_steps_that_double(store: DirectoryStore) -> None:
    assert [sorted(head.links(number)) for number in (1, 2, 3, 8, 9, 13, 16)] == [
        [], [1], [2], [4, 6, 7], [8], [8, 12], [8, 12, 14, 15],
    ]  # fmt: skip
    for each in grow(store, 40):
        assert sorted(each.history) == sorted(head.links(each.number))
        for number, digest in each.history.items():
            assert digest == Digest.of(store.get(head.key(number)))


@pytest.mark.parametrize("pointer", [None, *range(1, 21)])
def test_the_latest_head_is_found_from_any_pointer_by_few_requests(store: DirectoryStore, pointer: int | None) -> None:
    made = grow(store, 20)
    file = store.root_dir / head.POINTER
    if pointer is None:
        file.unlink()
    else:
        file.write_bytes(store.get(head.key(pointer)))
    counting = CountingStore(store)
    assert head.latest(counting) == made[-1]
    assert counting.count <= 12
    if pointer == 20:
        assert counting.requests == [head.POINTER, head.key(21)]


def test_a_stale_pointer_is_brought_up_to_date_and_never_back(store: DirectoryStore) -> None:
    made = grow(store, 3)
    head._point(store, store.get(head.key(2)), 2)
    assert store.get(head.POINTER) == store.get(head.key(3))
    (store.root_dir / head.POINTER).write_bytes(store.get(head.key(1)))
    grow(store, 1)
    assert head.latest(store) != made[-1]
    assert store.get(head.POINTER) == store.get(head.key(4))


def test_a_place_without_heads_has_no_latest(store: DirectoryStore, memory: Memory) -> None:
    store.put("x", b"")
    assert head.latest(store, memory=memory) is None


# What a reader remembers.


@pytest.mark.parametrize("seen", range(1, 34))
def test_proves_with_few_requests_that_a_head_descends_from_the_one_seen(
    store: DirectoryStore, memory: Memory, seen: int
) -> None:
    made = grow(store, 33)
    memory.write(made[seen - 1])
    counting = CountingStore(store)
    assert head.latest(counting, TRUSTED, memory) == made[-1]
    assert counting.count <= 2 + 2 * (33).bit_length()
    assert memory.read().number == 33


def test_refuses_a_head_that_is_older_than_the_one_seen(store: DirectoryStore, memory: Memory) -> None:
    grow(store, 5)
    head.latest(store, TRUSTED, memory)
    before = memory.file.read_bytes()
    for number in (5, 4):
        (store.root_dir / head.key(number)).unlink()
    (store.root_dir / head.POINTER).write_bytes(store.get(head.key(3)))
    with pytest.raises(IntegrityError, match=r"channel: is older than before: it had head 5, and now its latest .* 3"):
        head.latest(store, TRUSTED, memory)
    for number in (3, 2, 1):
        (store.root_dir / head.key(number)).unlink()
    (store.root_dir / head.POINTER).unlink()
    with pytest.raises(IntegrityError, match="it had head 5, and now the channel has no head"):
        head.latest(store, TRUSTED, memory)
    assert memory.file.read_bytes() == before


def test_a_pointer_that_is_older_than_the_head_seen_does_no_harm(store: DirectoryStore, memory: Memory) -> None:
    made = grow(store, 5)
    head.latest(store, TRUSTED, memory)
    (store.root_dir / head.POINTER).write_bytes(store.get(head.key(2)))
    assert head.latest(store, TRUSTED, memory) == made[-1]
    (store.root_dir / head.POINTER).unlink()
    assert head.latest(store, TRUSTED, memory) == made[-1]


@pytest.mark.parametrize("later", [0, 1, 2, 3, 7, 20])
def test_refuses_a_history_that_forks_from_the_one_seen(
    tmp_path: Path, store: DirectoryStore, memory: Memory, later: int
) -> None:
    grow(store, 4)
    head.latest(store, TRUSTED, memory)
    other = DirectoryStore(tmp_path / "other")
    grow(other, 3)
    grow(other, 1, extra={"forked": True})
    grow(other, later)
    with pytest.raises(IntegrityError, match=r"other: has another history: its head 4 was sha256:.*, and is sha256:"):
        head.latest(other, TRUSTED, memory)


def test_a_history_that_is_missing_or_altered_proves_nothing(store: DirectoryStore, memory: Memory) -> None:
    made = grow(store, 9)
    memory.write(made[2])
    (store.root_dir / head.key(8)).write_bytes(store.get(head.key(7)))
    with pytest.raises(IntegrityError, match=r"index/heads/8\.json: expected sha256"):
        head.latest(store, TRUSTED, memory)
    (store.root_dir / head.key(8)).unlink()
    with pytest.raises(IntegrityError, match=r"index/heads/8\.json: is missing, and a later head links to it"):
        head.latest(store, TRUSTED, memory)


def test_a_damaged_memory_is_said_to_be_one(store: DirectoryStore, memory: Memory) -> None:
    grow(store, 1)
    head.latest(store, NOBODY, memory)
    memory.file.write_bytes(memory.file.read_bytes()[:-9])
    with pytest.raises(IntegrityError, match=r"state/head\.json: cannot be read .* \(remove the file to forget"):
        head.latest(store, NOBODY, memory)


def test_a_memory_that_cannot_be_written_is_no_reason_to_fail(store: DirectoryStore, tmp_path: Path) -> None:
    made = grow(store, 1)
    (tmp_path / "file").write_bytes(b"")
    assert head.latest(store, NOBODY, Memory(file=tmp_path / "file" / "head.json")) == made[-1]


# Who signed.


def test_refuses_a_head_that_nobody_trusted_signed(store: DirectoryStore) -> None:
    grow(store, 2)
    assert head.latest(store, TRUSTED)
    with pytest.raises(IntegrityError, match=r"^index/head\.json: is signed by sha256:.*, which you do not trust"):
        head.latest(store, Trust.of(OTHER.public))
    latest = head.latest(store)
    assert latest
    head.create(store, Head(number=3, history=latest.next_history()), [])
    with pytest.raises(IntegrityError, match=r"is not signed"):
        head.latest(store, TRUSTED)


def test_a_key_that_the_channel_revoked_signs_no_head_any_more(store: DirectoryStore, memory: Memory) -> None:
    both = Trust.of(KEY.public, OTHER.public)
    (first,) = grow(store, 1)
    revoking = Head(number=2, history=first.next_history(), revoked=(KEY.public.id,))
    second = head.create(store, revoking, [OTHER])
    assert head.latest(store, both, memory) == second
    head.create(store, Head(number=3, history=second.next_history()), [KEY])
    with pytest.raises(IntegrityError, match="revokes no longer what it revoked before"):
        head.latest(store, both)  # who never saw head 2 as the latest
    with pytest.raises(IntegrityError, match="is revoked"):
        head.latest(store, both, memory)
    (store.root_dir / head.key(3)).unlink()
    (store.root_dir / head.POINTER).unlink()
    own = Head(number=3, history=second.next_history(), revoked=(KEY.public.id,))
    head.create(store, own, [KEY])
    with pytest.raises(IntegrityError, match="is revoked"):
        head.latest(store, both)


# Heads that somebody made.


def written(store: DirectoryStore, **changes: object) -> None:
    payload = {**json.loads(Head(number=1).payload()), **changes}
    data = envelope.sign(json.dumps(payload).encode(), head.TYPE, [])
    for key in (head.POINTER, head.key(1)):
        (store.root_dir / key).parent.mkdir(parents=True, exist_ok=True)
        (store.root_dir / key).write_bytes(data)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"number": 0}, "number: expected the number of a head, found 0"),
        ({"number": 10**13}, "number: expected the number of a head"),
        ({"number": -1}, "number: expected a size"),
        ({"number": 2}, "history: expected the heads that head 2 links to"),
        ({"history": {"0": "sha256:" + "0" * 64}}, "history: expected the heads that head 1 links to"),
        ({"number": 2, "history": {"1": "x"}}, "history.1: 'x' is not a digest"),
        ({"number": 2, "history": {"01": "sha256:" + "0" * 64}}, "history: expected the heads that head 2 links to"),
        ({"packages": {"level": 0, "entries": {"b": "", "a": ""}}}, "packages.entries: the keys are not in order"),
        ({"revoked": ["x"]}, r"revoked\[0\]: 'x' is not a digest"),
        ({"kind": "Index"}, "expected packyard/v1 IndexHead, found packyard/v1 Index"),
        ({"apiVersion": "packyard/v2"}, "expected packyard/v1 IndexHead, found packyard/v2 .* newer packyard"),
    ],
)
def test_refuses_what_is_no_head_and_says_what_to_do_about_a_newer_one(
    store: DirectoryStore, changes: dict[str, object], says: str
) -> None:
    written(store, **changes)
    with pytest.raises(IntegrityError, match=rf"^index/head\.json: {says}"):
        head.latest(store)


def test_refuses_a_head_under_another_number(store: DirectoryStore) -> None:
    grow(store, 2)
    (store.root_dir / head.key(3)).write_bytes(store.get(head.key(1)))
    with pytest.raises(IntegrityError, match=r"^index/heads/3\.json: must be head 3, found head 1"):
        head.latest(store)
