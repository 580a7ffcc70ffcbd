"""What a channel says it holds: order, conflicts, the latest version, and updates that lose nothing."""

import json
import random
import re
from dataclasses import replace
from operator import methodcaller
from pathlib import Path

import pytest

from packyard.core.bundle import record
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import KEY, MOST, Index, Release, record_key
from packyard.sharing.index.package import Package, Summary, choose
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import CountingStore, OvertakenStore, add_to_index, bundle, entry, write_index
from sharing.servers import within

ENTRIES = [entry("bert", "1.9"), entry("bert", "1.10"), entry("bert", "1.11-rc1"), entry("resnet", "v2.7.0")]
INDEX = Index().add(*ENTRIES)


@pytest.mark.parametrize(
    ("readme", "description"),
    [
        ("# BERT\n\nTrains BERT\non CPUs.\n\n## Run\n", "BERT: Trains BERT on CPUs."),
        ("# BERT\r\n\r\n- a list\r\n\r\nProse.\r\n", "BERT: Prose."),
        ("Prose\n\n# Title\n", "Prose"),
        ("", ""),
        ("\n\n<html>\n", ""),
        ("# BERT\n\n## Get it\n\nOr `get`.\n", "BERT"),
        ("# " + "x" * 500, "x" * 299 + "…"),
    ],
)
def test_an_entry_says_how_the_readme_begins(readme: str, description: str) -> None:
    assert IndexEntry.of(bundle(text=readme)).description == description


# Yanked versions, and choices.


def test_a_yanked_version_is_chosen_only_if_it_is_asked_for() -> None:
    yanked = INDEX.put(replace(ENTRIES[1], yanked="diverges"))
    package = yanked.named("bert")
    for latest in ("", "latest"):
        found = choose(package, Reference(name="bert", choice=latest))
        assert found == (ENTRIES[0], "the latest version; 1.10 is yanked: diverges")
    asked, _ = choose(package, Reference(name="bert", version="v1.10.0"))
    assert (asked.version, asked.yanked) == ("1.10", "diverges")
    assert choose(package, Reference(name="bert", choice="^1"))[0] == ENTRIES[0]
    every = yanked.put(replace(ENTRIES[0], yanked="also"), replace(ENTRIES[2], yanked="too"))
    says = r"every version of bert is yanked: 1\.11-rc1: too \(to get one all the same, ask for it: bert@1\.11-rc1\)"
    with pytest.raises(InputError, match=says):
        choose(every.named("bert"), Reference(name="bert"))
    assert every.add(*ENTRIES) == every


# Indexes that somebody changed.


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "IndexHead"}, "expected packyard/v1 Index, found packyard/v1 IndexHead"),
        ({"number": 0}, "number: expected 1 or more"),
        ({"channel": "x"}, "channel: 'x' is not the id of a channel"),
        ({"packages": {"../x": {"record": Digest.of(b"")}}}, "is not a name for a package"),
        ({"packages": {"bert": {"version": "1.0"}}}, "packages.bert.record: is missing"),
        ({"shards": {"2": Digest.of(b"")}}, "shards: expected the digests of shards"),
        ({"shards": {"0": Digest.of(b"")}}, "shards: expected the digests of shards"),
    ],
)
def test_refuses_an_index_that_is_none(changes: dict[str, object], says: str) -> None:
    document = json.loads(replace(INDEX, channel="0" * 32, number=1).payload())
    with pytest.raises(IntegrityError, match=re.escape(says)):
        Index.parse(json.dumps({**document, **changes}).encode(), None)


def test_refuses_the_record_of_another_package_and_names_what_is_missing(store: DirectoryStore) -> None:
    listed = add_to_index(store, ENTRIES)
    row = json.loads((store.root_dir / KEY).read_bytes())["packages"]["resnet"]
    (store.root_dir / "index/p/bert").rename(store.root_dir / "index/p/other")
    with pytest.raises(IntegrityError, match=r"^index/p/bert/[0-9a-f]{64}\.json: is missing .*packyard fsck"):
        listed.named("bert")
    (store.root_dir / "index/p/resnet").rename(store.root_dir / "index/p/bert")
    write_index(store.root_dir, packages={"bert": row})
    with pytest.raises(IntegrityError, match="is the record of 'resnet'"):
        access.read(store).named("bert")


def test_keeps_unknown_fields_also_when_an_entry_is_added(store: DirectoryStore) -> None:
    add_to_index(store, ENTRIES)
    document = json.loads(INDEX.named("bert").to_bytes())
    document["rated"] = "é"
    document["versions"]["1.9"]["withdrawn"] = {"why": "wrong"}
    data = record.to_line(document)
    row = {**INDEX.listed["bert"].document(), "record": Digest.of(data)}
    store.put(record_key("bert", Digest.of(data)), data)
    write_index(store.root_dir, packages={"bert": row}, comment="é", releases={"1": {"closed": True, "why": "é"}})
    add_to_index(store, [entry("bert", "2.0")])
    later = access.read(store)
    assert later.extra == {"comment": "é"}
    assert later.release("1.0").extra == {"why": "é"}
    assert later.named("bert").extra == {"rated": "é"}
    assert later.entries[0].extra == {"withdrawn": {"why": "wrong"}}
    assert later.named("bert").entries[-1].version == "2.0"


# Shards.


def many(count: int) -> list[IndexEntry]:
    return [entry(f"p-{number:05}") for number in range(count)]


def test_some_hundreds_of_packages_are_in_shards_whatever_their_order(store: DirectoryStore) -> None:
    entries = many(900)
    listed = add_to_index(store, entries)
    assert 4 <= len(listed.shards) <= 8
    assert all(len(listed.shard(prefix)) <= MOST for prefix in listed.shards)
    one = Index(store=store)
    for start in range(0, 900, 100):
        some = replace(one.add(*random.Random(start).sample(entries[start : start + 100], 100)), store=store)
        one = some
    assert one.shards == listed.shards
    read = access.read(store)
    assert read == listed
    assert [summary.name for summary in read.summaries()] == [each.name for each in entries]
    assert {key for key in store.list("index/") if key != KEY} == set(read.files_below())


def test_a_name_among_many_takes_three_requests_and_a_list_one_for_each_shard(store: DirectoryStore) -> None:
    listed = add_to_index(store, many(900))
    counting = CountingStore(store)
    assert access.read(counting).named("p-00777").latest == entry("p-00777")
    assert counting.count == 3
    counting = CountingStore(store)
    assert len(list(access.read(counting).summaries())) == 900
    assert counting.count == 1 + len(listed.shards)
    with pytest.raises(InputError, match="did you mean 'p-00777'"):
        access.read(store).named("p-0777")


# Changes, while others make some.


def test_tries_again_when_others_are_faster_and_keeps_their_entries(tmp_path: Path) -> None:
    add_to_index(OvertakenStore(tmp_path), ENTRIES)
    names = {item.name for item in access.read(DirectoryStore(tmp_path)).entries}
    assert names == {"bert", "resnet", "other-0", "other-1", "other-2"}


def test_gives_up_by_time_when_others_are_always_faster(tmp_path: Path) -> None:
    store = OvertakenStore(tmp_path)
    store.overtakes = 1000
    with (
        within(0),
        pytest.raises(UnavailableError, match=r"others publish all the time, for 0 seconds .*run again later"),
    ):
        add_to_index(store, ENTRIES)


def test_who_publishes_first_on_a_server_without_conditions_is_told_once(tmp_path: Path) -> None:
    class Weak(DirectoryStore):
        def keeps_conditions(self) -> bool:
            return False

    told: list[str] = []
    by = Publisher(tell=told.append)
    for item in ENTRIES[:2]:
        by.commit(Weak(tmp_path / "one"), methodcaller("add", item))
    begins = f"{tmp_path}/one is a new channel, which begins with this"
    weak = f"{tmp_path}/one does not keep what several write at once: publish from one job at a time"
    assert [text for text in told if "not signed" not in text] == [begins, weak]
    assert access.read(DirectoryStore(tmp_path / "one")).writers == "one"


# A list.


def test_a_list_of_100000_packages_takes_at_most_1000_requests() -> None:
    names = {f"p-{number:05}": Summary(name=f"p-{number:05}") for number in range(100_000)}
    assert len(Index(listed=names).with_packages([Package(name="new", versions={"1.0": entry("new")})]).shards) < 1000


def test_the_listing_follows_versions_and_yanks() -> None:
    def rows(index: Index) -> dict[str, tuple[str, str]]:
        return {summary.name: (summary.version, summary.title) for summary in index.summaries()}

    newer = replace(entry("bert", "2.0"), description="Other: prose")
    assert rows(more := INDEX.add(newer)) == {"bert": ("2.0", "Other"), "resnet": ("v2.7.0", "")}
    assert rows(more.put(replace(newer, yanked="oh")))["bert"] == ("1.10", "")
    assert rows(INDEX.put(replace(ENTRIES[3], yanked="oh"))).keys() == {"bert"}


# A release in shards.


def test_the_last_shard_of_a_release_closes_it() -> None:
    index = Index()
    for number in (2, 0, 2):
        index = index.close("1.0", (number, 3))
    assert index.release("1") == Release(of=3, shards=(0, 2))
    with pytest.raises(ConflictError, match=r"has 3 shards, and this is one of 4 \(publish --shard K/3, or"):
        index.close("1.0", (1, 4))
    assert index.close("1.0", (1, 3)).release("v1.0").closed
    assert index.close("1.0", (1, 3)).close("1.0", (1, 3)).release("1").closed
