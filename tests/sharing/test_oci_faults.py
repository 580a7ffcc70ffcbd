"""Registries behind networks that fail: nothing is lost or changed, and what was cut is read on from there."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from packyard.core.errors import PackyardError, UnavailableError
from packyard.sharing.stores.oci.channel import OCIStore
from sharing.buckets import BucketServer, Proxy, Toxiproxy
from sharing.servers import answer, answering

DATA = random.Random(2).randbytes(3 << 20)
KEY = "1.0/bert.tar.gz"


pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))


def test_a_proxy_of_the_environment_is_asked_unless_the_registry_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(lambda _: [answer(b'{"tags": ["a"]}')]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        assert OCIStore("oci+http://registry.invalid/m").names == ["a"]
        assert proxy.requests[0].startswith(b"GET http://registry.invalid/v2/m/index/tags/list ")
        monkeypatch.setenv("no_proxy", "registry.invalid")
        with pytest.raises(UnavailableError, match="cannot be reached"):
            _ = OCIStore("oci+http://registry.invalid/m", patience=20).names
    assert len(proxy.requests) == 1


# Real registries behind a network that fails.


@pytest.fixture(params=["registry3", "registry_with_referrers"])
def proxy(request: pytest.FixtureRequest, toxiproxy: Toxiproxy) -> Iterator[Proxy]:
    with toxiproxy.before(BucketServer(f"http://{request.getfixturevalue(request.param)}", {})) as made:
        yield made


@pytest.fixture
def behind(proxy: Proxy) -> OCIStore:
    return OCIStore(f"oci://{proxy.server.url.removeprefix('http://')}/c-{os.urandom(8).hex()}", patience=30)


def until_done(call: Callable[[], object]) -> None:
    """Call until the network lets it be done, as a job that runs again does."""
    for _ in range(40):
        try:
            call()
            return
        except UnavailableError:
            continue
    raise AssertionError("never done")


def test_connections_that_are_reset_lose_and_change_nothing(proxy: Proxy, behind: OCIStore) -> None:
    keys = [f"1.{number}/bert.tar.gz{end}" for number in range(4) for end in ("", ".spdx.json")]
    for stream in ("upstream", "downstream"):
        with proxy.spoiled("reset_peer", stream=stream, toxicity=0.2, timeout=5):
            for key in keys:
                until_done(lambda key=key: behind.put(key, key.encode()))  # type: ignore[misc]
    assert {key: behind.get(key) for key in keys} == {key: key.encode() for key in keys}


def test_a_body_that_is_cut_is_read_on_from_there(proxy: Proxy, behind: OCIStore) -> None:
    behind.put(KEY, DATA)
    came = b""
    with proxy.spoiled("limit_data", bytes=1_500_000):
        for _ in range(20):
            try:
                for piece in OCIStore(behind.address, patience=5).read(KEY, offset=len(came)):
                    came += piece
                break
            except PackyardError:
                continue
    assert came == DATA
