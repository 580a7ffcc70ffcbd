"""The listing of an index: what is read to list many packages, or one of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from threading import Lock

import pytest

import sample
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.index.summary import Summary
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import add_to_index, entry
from sharing.servers import Script, answer, answering
from tiny import done

MANY = 5000 if sample.WHOLE else 1000
_PATHS = [
    f"quickstart/mlops/{place}/{storage}"
    for place in ("multi-node", "single-node")
    for storage in ("user-mounted-nfs", "user-allocated-pvc", "own-storage")
]


def name_of(number: int) -> str:
    return f"{number:07}-resnet50v1-5-fp32-training-k8s"


def large(number: int) -> IndexEntry:
    """Return an entry that is as large as those of the catalogue."""
    model = {"name": "resnet50v1-5", "framework": "tensorflow", "precision": "fp32", "category": "image-recognition"}
    text = f"ResNet with TensorFlow: model {number}. {'Prose. ' * 30}"[:300]
    return replace(entry(name_of(number)), use_cases=tuple(_PATHS), model=model, description=text)


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a channel of many packages."""
    folder = tmp_path_factory.mktemp("channel")
    add_to_index(DirectoryStore(folder), map(large, range(MANY)))
    return folder


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
@pytest.mark.parametrize("words", [(), ("-o", "json"), (f"{MANY - 1:07}", "-o", "json")], ids=" ".join)
def test_a_list_of_many_packages_takes_at_most_60_requests(channel: Path, words: tuple[str, ...]) -> None:
    asked = Counter[str]()
    with answering(counting(channel, asked)) as server:
        printed = done("list", *words, "--from", server.address)
    assert sum(asked.values()) <= 60, asked.most_common(5)
    if "json" in words:
        rows = json.loads(printed)
        assert (
            [row["name"] for row in rows] == [name_of(MANY - 1)] if len(words) == 3 else list(map(name_of, range(MANY)))
        )
        assert rows[0]["useCases"] == list(large(0).use_cases)
    else:
        assert printed.count(" 1.0 ") == MANY


@pytest.mark.nightly
def test_a_list_of_100000_packages_takes_at_most_1000_requests() -> None:
    names = {name_of(number): Summary(name=name_of(number)) for number in range(100_000)}
    assert len(Index(listed=names).with_packages([Package(name="new", versions={"1.0": entry("new")})]).shards) < 1000


def test_the_listing_follows_yanks() -> None:
    index = Index().add(*map(large, range(4)))
    more = index.add(replace(large(1), version="1.1", description="Other: prose"))
    assert {each.name: (each.version, each.title) for each in more.summaries()}[name_of(1)] == ("1.1", "Other")
    yanked = more.put(replace(more.named(name_of(1)).get("1.1"), yanked="oh"))
    assert {each.name: each.version for each in yanked.summaries()}[name_of(1)] == "1.0"
    gone = index.put(replace(large(1), yanked="oh"))
    assert [each.name for each in gone.summaries()] == [name_of(0), name_of(2), name_of(3)]
    assert gone.named(name_of(1)).entries[0].yanked == "oh"
