"""What a channel says it holds: order, conflicts, the latest version, and updates that lose nothing."""

from __future__ import annotations

import json
import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import real
from packyard.core.bundle import record
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access, flat, head, nodes
from packyard.sharing.index.choose import choose
from packyard.sharing.index.index import Index, Release
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import NotFoundError
from packyard.sharing.trust.keys import SigningKey, Trust
from sharing.examples import CountingStore, OvertakenStore, add_to_index, bundle, entry, fetch, write_head

ENTRIES = [entry("bert", "1.9"), entry("bert", "1.10"), entry("bert", "1.11-rc1"), entry("resnet", "v2.7.0")]
INDEX = Index().add(*ENTRIES)


def resolve(listed: Index, name: str, version: str | None = None) -> IndexEntry:
    return choose(listed.named(name), Reference(name=name, version=version)).entry


def test_an_entry_describes_its_bundle() -> None:
    described = IndexEntry.of(bundle(name="bert", version="1.2"))
    assert (str(described), described.use_cases) == ("bert@1.2", ("single-node",))
    assert described.model == {"framework": "pytorch"}
    assert described.description == ""
    described.verify(bundle(name="bert", version="1.2").data)


@pytest.mark.parametrize(
    ("readme", "description"),
    [
        ("# BERT\n\nTrains BERT\non CPUs.\n\n## Run\n", "BERT: Trains BERT on CPUs."),
        ("# BERT\r\n\r\n- a list\r\n\r\nProse.\r\n", "BERT: Prose."),
        ("Prose\n\n# Title\n", "Prose"),
        ("", ""),
        ("\n\n<html>\n", ""),
        ("# " + "x" * 500, "x" * 299 + "…"),
    ],
)
def test_an_entry_says_how_the_readme_begins(readme: str, description: str) -> None:
    assert IndexEntry.of(bundle(text=readme)).description == description


def test_is_the_same_in_whatever_order_entries_came() -> None:
    for seed in range(10):
        shuffled = random.Random(seed).sample(ENTRIES, len(ENTRIES))
        one_by_one = Index()
        for item in shuffled:
            one_by_one = one_by_one.add(item)
        assert one_by_one.head.payload() == INDEX.head.payload()
    assert Index.of_entries(ENTRIES, Nodes()).head == INDEX.head


def test_reading_what_was_recorded_gives_the_same_index(store: DirectoryStore) -> None:
    recorded = add_to_index(store, ENTRIES)
    assert access.read(store) == recorded
    assert access.read(store).entries == tuple(ENTRIES)


def test_keeps_unknown_fields_also_when_an_entry_is_added(store: DirectoryStore, tmp_path: Path) -> None:
    add_to_index(store, ENTRIES)
    document = json.loads(INDEX.named("bert").to_bytes())
    document["rated"] = "é"
    document["versions"][0]["withdrawn"] = {"why": "wrong"}
    data = record.to_lines(document, levels={})
    store.put(nodes.key(Digest.of(data)), data)
    packages = INDEX.head.packages.document()
    packages["entries"]["bert"] = Digest.of(data)  # type: ignore[index]
    write_head(tmp_path, packages=packages, comment="é")
    add_to_index(store, [entry("bert", "2.0")])
    later = access.read(store)
    assert later.head.extra == {"comment": "é"}
    assert later.named("bert").extra == {"rated": "é"}
    assert later.entries[0].extra == {"withdrawn": {"why": "wrong"}}
    assert later.named("bert").entries[-1].version == "2.0"


def test_adding_the_same_entry_again_changes_nothing() -> None:
    assert INDEX.add(*ENTRIES) == INDEX


def test_refuses_another_digest_under_a_name_and_version_and_names_both() -> None:
    other = [entry("bert", "1.9", b"other"), entry("resnet", "v2.7.0", b"other"), entry("new")]
    with pytest.raises(ConflictError) as caught:
        INDEX.add(*other)
    assert [str(problem).split(" has ")[0] for problem in caught.value.problems] == ["bert@1.9", "resnet@v2.7.0"]
    assert ENTRIES[0].tar in str(caught.value)
    assert other[0].tar in str(caught.value)


def test_refuses_the_same_tar_with_another_file_digest() -> None:
    with pytest.raises(ConflictError, match="the same tar, compressed differently"):
        INDEX.add(IndexEntry(name="bert", version="1.9", tar=ENTRIES[0].tar, digest=Digest.of(b"z"), size=1))


@pytest.mark.parametrize(("name", "version"), [("bert", "v1.9.0"), ("bert", "1.11.0-RC.1"), ("resnet", "2_7")])
def test_refuses_a_version_in_another_spelling_and_names_the_one_that_is_there(name: str, version: str) -> None:
    there = resolve(INDEX, name, version)
    says = rf"^{name}@{version} is published as {there}: .*\(publish as {there.version}, or raise the version\)"
    for content in (b"", b"other"):
        with pytest.raises(ConflictError, match=says):
            INDEX.add(entry(name, version, content))


def test_refuses_two_spellings_of_one_version_in_one_call() -> None:
    with pytest.raises(ConflictError, match=r"^a@v1 is published as a@1\.0"):
        Index().add(entry("a", "1.0"), entry("a", "v1"))


def test_a_release_has_one_spelling_for_all_its_bundles() -> None:
    says = r"^b@v1: the release is published as 1\.0: one version has one spelling .*\(publish as 1\.0, or raise"
    with pytest.raises(ConflictError, match=says):
        Index().add(entry("a", "1.0"), entry("b", "v1"))
    with pytest.raises(ConflictError, match=says):
        Index().add(entry("a", "1.0")).add(entry("b", "v1"))
    assert Index().add(entry("a", "1.0")).release("v1.0.0") == Release(spelling="1.0")


def test_a_closed_release_gets_no_more_and_keeps_what_it_has() -> None:
    closed = INDEX.close("1.9.0")
    assert closed.release("1.9") == Release(spelling="1.9", closed=True)
    with pytest.raises(ConflictError, match=r"^new@1\.9: the release 1\.9 is closed \(publish it in another release"):
        closed.add(entry("new", "1.9"))
    assert closed.add(*ENTRIES) == closed
    assert closed.add(entry("new", "1.10")).entries[2:3] == (ENTRIES[2],)
    with pytest.raises(InputError, match=r"no release '3\.0'"):
        INDEX.close("3.0")


def test_keeps_two_spellings_that_an_index_has_already() -> None:
    old = Index.of_entries([*ENTRIES, entry("bert", "v1.9")], Nodes())
    assert len(old.entries) == 5
    later = old.add(entry("zoo"))
    assert all(item in later.entries for item in old.entries)
    assert later.add(*old.entries) == later
    assert [resolve(later, "bert", text).version for text in ("1.9", "v1.9")] == ["1.9", "v1.9"]


@pytest.mark.parametrize("version", ["1.10", "v1.10", "1.10.0", "1.10+build"])
def test_resolves_a_version_however_it_is_spelled(version: str) -> None:
    if "+" in version:
        with pytest.raises(InputError, match="no version"):
            resolve(INDEX, "bert", version)
    else:
        assert resolve(INDEX, "bert", version).version == "1.10"


def test_finds_the_versions_of_a_name_the_oldest_first() -> None:
    assert INDEX.versions("bert") == ("1.9", "1.10", "1.11-rc1")
    assert INDEX.versions("nothing") == ()


def test_the_latest_is_the_highest_that_is_no_pre_release() -> None:
    assert resolve(INDEX, "bert").version == "1.10"


def test_the_latest_of_pre_releases_alone_is_the_highest() -> None:
    assert resolve(Index().add(entry(version="1.0-rc2"), entry(version="1.0-rc10")), "bert").version == "1.0-rc10"


def test_resolves_a_pre_release_that_is_asked_for() -> None:
    assert resolve(INDEX, "bert", "1.11-rc1").version == "1.11-rc1"


def test_suggests_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no bundle 'brt' \(did you mean 'bert'\?\)"):
        resolve(INDEX, "brt")


def test_names_the_versions_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no version '2\.0' of bert \(it has 1\.11-rc1, 1\.10, 1\.9\)"):
        resolve(INDEX, "bert", "2.0")


@pytest.mark.nightly
def test_thousands_of_entries_take_no_more_than_their_number() -> None:
    def operations(count: int) -> int:
        calls = 0

        def count_call(*_: object) -> None:
            nonlocal calls
            calls += 1

        entries = [entry(f"p-{number:04}", "1.0") for number in range(count)]
        sys.setprofile(count_call)
        try:
            listed = Index.of_entries(entries, Nodes()).add(entry("new"))
            assert Index().add(*entries, entry("new")) == listed
            resolve(listed, "p-0007", "1")
            with pytest.raises(InputError):
                resolve(listed, "p_7")
        finally:
            sys.setprofile(None)
        return calls

    assert operations(2000) < 2.5 * operations(1000)


def test_a_head_that_nobody_could_read_again_is_not_written(
    store: DirectoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "LIMIT", 3000)
    add_to_index(store, ENTRIES)
    with pytest.raises(UnavailableError, match=r"index/heads/2\.json: would be larger than 3000 bytes"):
        add_to_index(store, [entry(f"p-{number}") for number in range(20)])
    assert access.read(store).entries == INDEX.entries


# Yanked versions, and choices.


def test_a_yanked_version_is_chosen_only_if_it_is_asked_for() -> None:
    yanked = INDEX.yank(ENTRIES[1], "diverges")
    package = yanked.named("bert")
    found = choose(package, Reference(name="bert"))
    assert (found.entry, found.why) == (ENTRIES[0], "the latest version; 1.10 is yanked: diverges")
    asked = choose(package, Reference(name="bert", version="v1.10.0"))
    assert (asked.entry.version, asked.entry.yanked) == ("1.10", "diverges")
    own = Index().add(entry("bert", "1.0", b"own"))
    assert choose(
        own.yank(own.entries[0], "x").named("bert"), Reference(name="bert", choice=Digest.of(b"own"))
    ).entry.yanked
    assert choose(package, Reference(name="bert", choice="^1")).entry == ENTRIES[0]
    every = yanked.yank(ENTRIES[0], "also").yank(ENTRIES[2], "too")
    says = r"every version of bert is yanked: 1\.11-rc1: too \(to get one all the same, ask for it: bert@1\.11-rc1\)"
    with pytest.raises(InputError, match=says):
        resolve(every, "bert")
    assert every.add(*ENTRIES) == every


@pytest.mark.parametrize(
    ("choice", "version", "why"),
    [
        ("", "1.10", "the latest version that is not a pre-release"),
        ("latest", "1.10", "the latest version that is not a pre-release"),
        ("^1", "1.10", "the highest of 2 in ^1"),
        ("~1.9.0", "1.9", "the highest of 1 in ~1.9.0"),
        (ENTRIES[2].digest, "1.9", "its file has that digest"),
        (ENTRIES[2].tar, "1.9", "its tar has that digest"),
    ],
)
def test_says_why_it_chose(choice: str, version: str, why: str) -> None:
    found = choose(INDEX.named("bert"), Reference(name="bert", choice=choice))
    assert (found.entry.version, found.why) == (version, why)


def test_says_what_there_is_where_nothing_fits() -> None:
    with pytest.raises(InputError, match=r"no version of bert is in \^3 \(it has 1\.11-rc1, 1\.10, 1\.9\)"):
        choose(INDEX.named("bert"), Reference(name="bert", choice="^3"))
    with pytest.raises(InputError, match=r"no version of bert has the digest sha256:.* \(it has 1\.11"):
        choose(INDEX.named("bert"), Reference(name="bert", choice=Digest.of(b"x")))


# Indexes that somebody changed.


@pytest.mark.parametrize("size", [-1, True, "1"])
def test_refuses_an_entry_with_a_size_that_is_none(size: object) -> None:
    document = json.loads(INDEX.named("bert").to_bytes())
    document["versions"][1]["size"] = size
    data = json.dumps(document).encode()
    with pytest.raises(IntegrityError, match=r"^record sha256:[0-9a-f]{64}: versions\[1\]\.size: expected a"):
        Package.parse(data, Digest.of(data))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": "../1"}, r"versions\[1\]\.version: '\.\./1' is not a version"),
        ({"version": "9" * 5000}, r"versions\[1\]\.version: '9{80}' is not a version"),
        ({"version": "1.9"}, r"versions: expected one or more versions, each once"),
        ({"size": 10**30}, "a number of 31 digits"),
    ],
)
def test_refuses_a_record_that_leads_elsewhere_or_says_one_thing_twice(change: dict[str, object], says: str) -> None:
    document = json.loads(INDEX.named("bert").to_bytes())
    document["versions"][1].update(change)
    data = json.dumps(document).encode()
    with pytest.raises(IntegrityError, match=rf"^record sha256:[0-9a-f]{{64}}: .*{says}"):
        Package.parse(data, Digest.of(data))


def test_refuses_a_name_that_leads_elsewhere_and_the_record_of_another_package() -> None:
    data = json.dumps({**json.loads(INDEX.named("bert").to_bytes()), "name": "../bert"}).encode()
    with pytest.raises(IntegrityError, match=r"name: '\.\./bert' is not a name"):
        Package.parse(data, Digest.of(data))
    records = dict(INDEX.head.packages.entries())
    packages = replace(INDEX.head.packages, values=(records["resnet"], records["resnet"]))
    with pytest.raises(IntegrityError, match="has the record of 'resnet' under 'bert'"):
        replace(INDEX, head=replace(INDEX.head, packages=packages)).named("bert")


def test_says_which_node_is_missing(store: DirectoryStore, tmp_path: Path) -> None:
    add_to_index(store, ENTRIES)
    (record_key,) = (nodes.key(Digest(str(each))) for each in INDEX.head.packages.values[:1])
    (tmp_path / record_key).unlink()
    with pytest.raises(
        IntegrityError, match=rf"^{record_key}: is missing \(whoever publishes there sees .*: packyard fsck /"
    ):
        resolve(access.read(store), "bert")


@pytest.mark.nightly
def test_suggests_a_name_among_many_by_few_requests(store: DirectoryStore) -> None:
    add_to_index(store, [entry(f"model-{number:05}") for number in range(3000)])
    counting = CountingStore(store)
    with pytest.raises(InputError, match=r"no bundle 'model-00200x' \(did you mean 'model-00200'\?\)"):
        resolve(access.read(counting), "model-00200x")
    assert counting.count < 10


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


def test_a_channel_without_an_index_says_so(store: DirectoryStore) -> None:
    with pytest.raises(NotFoundError):
        access.read(store)


def test_records_entries_beside_those_that_are_there(store: DirectoryStore) -> None:
    add_to_index(store, ENTRIES[:2])
    later = add_to_index(store, ENTRIES[2:])
    assert later == access.read(store)
    assert (later.head.number, later.entries) == (2, INDEX.entries)
    assert later.head.packages == INDEX.head.packages


def test_recording_nothing_new_writes_nothing(store: DirectoryStore) -> None:
    add_to_index(store, ENTRIES)
    before = store.list("")
    add_to_index(store, ENTRIES)
    add_to_index(store, [])
    assert store.list("") == before


def test_tries_again_when_others_are_faster_and_keeps_their_entries(tmp_path: Path) -> None:
    add_to_index(OvertakenStore(tmp_path), ENTRIES)
    names = {item.name for item in access.read(DirectoryStore(tmp_path)).entries}
    assert names == {"bert", "resnet", "other-0", "other-1", "other-2"}


def test_gives_up_when_others_are_always_faster(tmp_path: Path) -> None:
    store = OvertakenStore(tmp_path)
    store.overtakes = 1000
    writer = access.Writer(store=store, by=access.UNSIGNED, check=lambda: None, attempts=3)
    with pytest.raises(UnavailableError, match="too many others"):
        writer.commit(lambda index: index.add(*ENTRIES))


# The format of packyard 0.1.0.


@pytest.fixture
def old(tmp_path: Path) -> DirectoryStore:
    """Return a channel that packyard 0.1.0 published."""
    shutil.copytree(real.REPOSITORY / "tests/trees/channel-0.1.0", tmp_path / "old")
    return DirectoryStore(tmp_path / "old")


def test_reads_a_channel_of_packyard_0_1_0(old: DirectoryStore) -> None:
    listed = access.read(old)
    assert [str(each) for each in listed.entries] == ["bert@1.9", "bert@1.10", "bert@1.11-rc1", "gpt@v2.7.0"]
    assert fetch(old, "bert").manifest.version == "1.10"
    assert fetch(old, "gpt@^2").manifest.version == "v2.7.0"
    assert resolve(listed, "bert", "1.9").model == {"framework": "pytorch"}
    with pytest.raises(InputError, match="did you mean 'bert'"):
        fetch(old, "brt")
    assert old.list("index/") == [flat.KEY]


def test_the_first_publish_makes_head_1_of_an_index_of_packyard_0_1_0(old: DirectoryStore) -> None:
    before = access.read(old).entries
    flat_index = old.get(flat.KEY)
    publish(old, [bundle("new", "1.10")])
    later = access.read(old)
    assert (later.head.number, old.get(flat.KEY)) == (2, flat_index)
    assert all(each in later.entries for each in before)
    with pytest.raises(ConflictError, match=r"^x@v1\.9: the release is published as 1\.9"):
        publish(old, [bundle("x", "v1.9")])


def test_an_index_of_packyard_0_1_0_is_no_signed_one(old: DirectoryStore) -> None:
    with pytest.raises(IntegrityError, match=r"^index/index\.json: is not signed: it is of packyard 0\.1\.0"):
        access.read(old, Trust.of(SigningKey.new().public))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "../bert"}, r"entries\[1\]\.name: '\.\./bert' is not a name"),
        ({"name": "a\x1b[31m"}, r"entries\[1\]\.name: 'a\\x1b\[31m' is not a name"),
        ({"version": "../1"}, r"entries\[1\]\.version: '\.\./1' is not a version"),
        ({"version": "9" * 5000}, r"entries\[1\]\.version: '9{80}' is not a version"),
        ({"version": "1.10"}, r"bert@1\.10 is listed twice"),
        ({"size": 10**30}, "a number of 31 digits"),
        ({"size": -1}, r"entries\[1\]\.size: expected a size"),
    ],
)
def test_refuses_an_index_of_packyard_0_1_0_that_leads_elsewhere_or_says_one_thing_twice(
    old: DirectoryStore, change: dict[str, object], says: str
) -> None:
    document = json.loads(old.get(flat.KEY))
    document["entries"][0]["version"] = "1.10"
    document["entries"][1] = {**document["entries"][0], "version": "1.9", **change}
    with pytest.raises(IntegrityError, match=rf"^index/index\.json: .*{says}"):
        flat.parse(json.dumps(document).encode())
