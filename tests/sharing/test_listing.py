"""The listing of an index: what is read to list many packages, and how a channel of an earlier release gets one."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest
from packyard.sharing.index.nodes import Nodes

from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access, head, nodes, summary, tree
from packyard.sharing.index.choose import choose
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.index.summary import Summary
from packyard.sharing.publishing import fsck
from packyard.sharing.stores.directory import DirectoryStore
from sharing.many_names import entry_of, name_of
from sharing.servers import Script, answer, answering
from tiny import COMMAND, done, environment, packyard

MANY = 5000
TREES = Path(__file__).parents[1] / "trees"


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a channel of many packages, as large as those of the catalogue."""
    folder = tmp_path_factory.mktemp("channel")
    store = DirectoryStore(folder)
    made = Index.build((Package(name=name_of(n), entries=(large(n),)) for n in range(MANY)), {}, Nodes(store))
    made.write()
    head.create(store, replace(made.head, number=1), [])
    return folder


def large(number: int) -> IndexEntry:
    of = entry_of(number)
    places = ("multi-node", "single-node")
    storages = ("user-mounted-nfs", "user-allocated-pvc", "own-storage")
    paths = tuple(f"quickstart/mlops/{place}/{each}" for place in places for each in storages)
    model = {**of.model, "category": "image-recognition"}
    return replace(of, use_cases=paths, model=model, description=f"{of.description} {'Prose. ' * 30}"[:300])


def counting(folder: Path, asked: Counter[str]) -> Script:
    """Serve a folder, and count what is asked for."""
    lock = Lock()

    def script(request: bytes) -> list[bytes]:
        key = request.split(b" ", 2)[1].decode().lstrip("/")
        with lock:
            asked[key] += 1
        file = folder / key
        return [answer(file.read_bytes()) if file.is_file() else answer(status=b"404 Not Found")]

    return script


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.nightly
@pytest.mark.parametrize("words", [(), ("-o", "json"), ("0004321", "-o", "json")], ids=" ".join)
def test_a_list_of_5000_packages_takes_at_most_60_requests(channel: Path, words: tuple[str, ...]) -> None:
    asked = Counter[str]()
    with answering(counting(channel, asked)) as server:
        printed = done("list", *words, "--from", server.address)
    assert sum(asked.values()) <= 60, asked.most_common(5)
    if "json" in words:
        rows = json.loads(printed)
        assert [row["name"] for row in rows] == [name_of(4321)] if len(words) == 3 else list(map(name_of, range(MANY)))
        assert rows[0]["useCases"] == list(large(0).use_cases)
    else:
        assert printed.count(" 1.0.0 ") == MANY


@pytest.mark.nightly
def test_rows_are_printed_as_they_come(channel: Path) -> None:
    last = next(reversed([*tree.leaves(access.read(DirectoryStore(channel)).head.listing, reading(channel))]))
    waits, is_read = nodes.key(Digest.of(last.to_bytes())).encode(), Event()
    serve = counting(channel, Counter())

    def script(request: bytes) -> list[bytes]:
        is_late = waits in request and not is_read.wait(timeout=300)
        return [answer(status=b"404 Not Found")] if is_late else [*serve(request)]

    with answering(script) as server:
        command = [*COMMAND, "list", "--from", server.address]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            lines = [process.stdout.readline() for _ in range(100)]
            is_read.set()
            rest = process.stdout.read()
    assert lines[0].startswith("NAME ")
    assert lines[1].startswith(name_of(0))
    assert process.returncode == 0
    assert name_of(MANY - 1) in rest


def reading(channel: Path) -> tree.ReadEach:
    known = Nodes(DirectoryStore(channel))
    return partial(known.each, known.node)


def test_nodes_are_read_several_at_a_time_and_in_order() -> None:
    together = Barrier(4)  # none of four readers ends before all have begun
    digests = [Digest.of(str(number).encode()) for number in range(8)]

    def read(digest: Digest) -> Digest:
        together.wait(timeout=60)
        return digest

    assert list(Nodes().each(read, digests)) == digests


def test_a_name_is_resolved_without_the_listing(channel: Path) -> None:
    asked = Counter[str]()
    with answering(counting(channel, asked)) as server:
        found = packyard("get", f"{name_of(17)}x", "--from", server.address)
    assert "did you mean" in found.stderr
    with answering(counting(channel, asked := Counter[str]())) as server:
        packyard("get", name_of(17), "--from", server.address)
    index = [key for key in asked if key.startswith("index/") and "nodes/" in key]
    assert len(index) <= 2
    size = sum((channel / key).stat().st_size for key in asked if (channel / key).is_file())
    assert size <= 64 * 1024


def test_a_small_head_stays_small_whatever_is_listed(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    made = Index().add(*(large(number) for number in range(12)))
    assert len(made.head.listing.keys) == 1
    created = head.create(store, replace(made.head, number=1), [])
    assert (tmp_path / head.key(created.number)).stat().st_size < 4 * 1024


def test_the_listing_is_the_same_in_whatever_order_its_packages_came_and_follows_yanks() -> None:
    entries = [large(number) for number in range(400)]
    built = Index.of_entries(entries, Nodes())
    one = Index(nodes=Nodes()).add(*entries[200:]).add(*reversed(entries[:200]))
    assert one.head.listing == built.head.listing
    more = one.add(replace(large(7), version="1.1.0", description="Other: prose"))
    assert {each.name: (each.version, each.title) for each in more.summaries()}[name_of(7)] == ("1.1.0", "Other")
    assert more.yank(more.named(name_of(7)).get("1.1.0"), "oh").head.listing == built.head.listing
    gone = one.yank(one.named(name_of(7)).get("1.0.0"), "oh")
    assert name_of(7) not in {each.name for each in gone.summaries()}


@pytest.mark.parametrize("tree", ["channel-without-id", "channel-0.1.0"])
def test_a_channel_of_an_earlier_release_is_listed_and_gets_a_listing_by_the_next_publish(
    tree: str, tmp_path: Path
) -> None:
    folder = tmp_path / "channel"
    shutil.copytree(TREES / tree, folder)
    store = DirectoryStore(folder)
    before = access.read(store)
    known = [(each.name, each.version) for each in before.summaries()]
    assert known == [(each.name, each.latest.version) for each in before.packages() if each.latest]
    printed = json.loads(done("list", "--from", folder, "-o", "json"))
    assert [(row["name"], row["version"]) for row in printed] == known
    with access.writer(store) as writer:
        writer.commit(lambda found: found.add(replace(large(1), version="9.0.0")))
    after = access.read(store)
    assert after.head.listing.keys
    assert not after.head.words.keys
    assert [(each.name, each.version) for each in after.summaries()] == sorted([*known, (name_of(1), "9.0.0")])
    assert all(choose(after.named(name), Reference(name=name)).entry.version == version for name, version in known)
    assert [each.message for each in fsck.check(store) if each.key.startswith("index/")] == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"version": 1},
        {"version": "../1"},
        {"version": "1", "useCases": "x"},
        {"version": "1", "model": []},
    ],
    ids=str,
)
def test_an_entry_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(IntegrityError, match="bert in the listing"):
        Summary.parse("bert", value)


def test_an_entry_is_bounded_and_says_all_again_that_it_was_made_of() -> None:
    of = Summary.of(large(3))
    assert Summary.parse(of.name, of.entry()) == of
    long = replace(of, use_cases=tuple(f"a/{number:05}" for number in range(10_000)), model={"x": "y" * 9999})
    assert len(json.dumps(long.entry())) < 16 * 1024
    assert summary.split(["FP32-train", "fp32"]) == ["fp32", "train"]
