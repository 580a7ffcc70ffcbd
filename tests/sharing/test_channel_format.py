"""A second reader, written from docs/channel-format.md alone, and what it reads of channels that packyard wrote."""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey
from sharing.buckets import Opener
from sharing.examples import add_to_index, bundle, close, entry, publish
from sharing.servers import answering, files

KEY = SigningKey.new()

#: How a file is read by its key.
Read = Callable[[str], bytes]


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def checked(read: Read, key: str, expected: str) -> Any:
    data = read(key)
    assert digest(data) == expected, key
    return json.loads(data)


def index(read: Read, key: Ed25519PublicKey | None = None) -> Any:
    """Return index.json, whose signature is checked."""
    document = json.loads(read("index/index.json"))
    if "kind" in document:
        assert key is None
        return document
    document = document["dsseEnvelope"]
    kind, payload = document["payloadType"].encode(), base64.b64decode(document["payload"])
    if key:
        assert kind == b"application/vnd.in-toto+json"
        signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
        key.verify(base64.b64decode(document["signatures"][0]["sig"]), signed)
    statement = json.loads(payload)
    assert statement["predicateType"] == "urn:packyard:index:v1"
    return statement["predicate"]


def row(read: Read, listed: Any, name: str) -> Any:
    if "packages" in listed:
        return listed["packages"][name]
    digits = f"{int(hashlib.sha256(name.encode()).hexdigest(), 16):0256b}"
    (prefix,) = (each for each in listed["shards"] if digits.startswith(each))
    shard = listed["shards"][prefix]
    return checked(read, f"index/{shard.removeprefix('sha256:')}.json", shard)["packages"][name]


def versions(read: Read, listed: Any, name: str) -> dict[str, Any]:
    found: str = row(read, listed, name)["record"]
    record = checked(read, f"index/p/{name}/{found.removeprefix('sha256:')}.json", found)
    assert record["name"] == name
    return dict(record["versions"])


def fetch(read: Read, name: str, key: Ed25519PublicKey | None = None) -> bytes:
    """Return the bundle of the latest version."""
    listed = index(read, key)
    version = row(read, listed, name)["version"]
    entry = versions(read, listed, name)[version]
    data = read(f"{version}/{name}.tar.gz")
    assert (len(data), digest(data)) == (entry["size"], entry["digest"])
    return data


# What it reads.


def fill(store: Store) -> None:
    by = Publisher(key=KEY)
    publish(store, [bundle("bert", version) for version in ("1.0", "1.1", "1.2")] + [bundle("gpt", "1.0")], by=by)
    yank(store, "bert@1.2", "diverges", by=by)
    close(store, "1.0", by=by)
    gc(store, Policy(keep=1), by=by)


def check(read: Read) -> None:
    key = KEY.public.loaded()
    assert fetch(read, "bert", key) == bundle("bert", "1.1").data
    listed = index(read, key)
    assert (len(listed["channel"]), listed["number"]) == (32, 5)
    assert listed["releases"] == {"1": {"closed": True}}
    found = versions(read, listed, "bert")
    assert found["1.2"]["yanked"] == "diverges"
    assert found["1.0"]["removed"] == "it is older than the newest 1"


def test_a_directory_and_a_web_server_are_read_by_the_page_alone(
    store: DirectoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fill(store)
    check(lambda key: (store.root_dir / key).read_bytes())
    with answering(files({f"/{key}": store.get(key) for key in store.list("")})) as server:
        check(lambda key: requests.get(f"{server.address}/{key}", timeout=60).content)


@pytest.mark.usefixtures("clean_environment")
def test_a_bucket_is_read_by_the_page_alone(on_versitygw: Opener) -> None:
    store = on_versitygw()
    fill(store)
    check(partial(open_store(store.address).get, limit=1 << 24))
    assert index(store.get)["writers"] == "many"


def test_shards_are_read_by_the_page_alone_and_cut_as_it_says(tmp_path: Path) -> None:
    entries = [entry(f"p-{number}") for number in range(700)]
    add_to_index(DirectoryStore(tmp_path), entries)

    def read(key: str) -> bytes:
        return (tmp_path / key).read_bytes()

    listed = index(read)
    assert all(versions(read, listed, each.name)["1.0"]["digest"] == each.digest for each in entries[::50])
    names = [
        json.loads(read(f"index/{each.removeprefix('sha256:')}.json"))["packages"] for each in listed["shards"].values()
    ]
    assert sum(map(len, names)) == 700
    assert max(map(len, names)) <= 256
    halves = {prefix[:-1]: 0 for prefix in listed["shards"]}
    for prefix, part in zip(listed["shards"], names, strict=True):
        halves[prefix[:-1]] += len(part)
    assert all(count > 256 for half, count in halves.items() if {half + "0", half + "1"} <= listed["shards"].keys())
    for file in (tmp_path / "index").rglob("*.json"):
        data = file.read_bytes()
        assert (
            data
            == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        )
