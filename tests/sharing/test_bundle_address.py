"""One bundle by an address of its own: in a registry, or wherever a channel is."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import real
from packyard.core.errors import InputError, IntegrityError
from packyard.sharing.entry import SIGSTORE, IndexEntry
from packyard.sharing.fetching import bundle_address
from packyard.sharing.fetching.fetch import Fetching, fetch
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores import open_store
from packyard.sharing.stores.oci.manifest import bundle_digest
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from packyard.sharing.trust.provenance import Statement
from sharing.examples import bundle

BERT = bundle("bert", "1.2.0+cpu", "hello")
KEY = SigningKey.new()


@pytest.fixture(autouse=True)
def _alone(clean_environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clean_environment.setenv("NO_PROXY", "127.0.0.1")
    clean_environment.setenv("DOCKER_CONFIG", str(tmp_path))


def check(address: str, trusted: Trust = NOBODY) -> str:
    """Fetch what is at an address, and say why it was chosen."""
    asked = bundle_address.parse(address)
    assert asked
    fetched = fetch(open_store(asked[0]), asked[1], Fetching(trusted=trusted))
    assert fetched.read() == BERT
    return fetched.choice.why


def test_a_bundle_in_a_registry_is_got_by_tag_and_digest_and_proved_by_its_provenance(registry3: str) -> None:
    channel = f"oci://{registry3}/c-{uuid.uuid4().hex}/models"

    def signed(entry: IndexEntry) -> dict[str, bytes]:
        return {entry.beside(SIGSTORE): Statement(entry, {}, None).to_bytes(KEY)}

    ((entry, _),) = publish(open_store(channel), [BERT], attest=signed)
    manifest = bundle_digest(entry)
    for mark in (":1.2.0+cpu", ":1.2.0_-cpu", f"@{manifest}", f":1.2.0_-cpu@{manifest}"):
        check(f"{channel}/bert{mark}", Trust.of(KEY.public))
    with pytest.raises(IntegrityError, match="which you do not trust"):
        check(f"{channel}/bert:1.2.0+cpu", Trust.of(SigningKey.new().public))
    with pytest.raises(InputError, match=r"no version '7\.0' of bert \(it has 1\.2\.0\+cpu\)"):
        check(f"{channel}/bert:7.0")


def test_a_bundle_on_a_web_server_is_got_by_what_a_browser_shows(tmp_path: Path) -> None:
    publish(open_store(str(tmp_path)), [BERT])
    with real.serve(tmp_path.parent) as server:
        for version in ("1.2.0+cpu", "1.2.0%2Bcpu"):
            assert check(f"{server}/{tmp_path.name}/{version}/bert.tar.gz") == "the version that was asked for"
        with pytest.raises(InputError, match="the channel has no bundle 'gpt'"):
            check(f"{server}/{tmp_path.name}/1.0/gpt.tar.gz")


@pytest.mark.parametrize(
    "address",
    [
        "https://u:secret@h/bert.tar.gz", "https://u:secret@h/1.0/bert", "https://u:secret@h/v/../bert.tar.gz",
        "https://u:secret@h/p/1.0/Bert.tar.gz", "https://u:secret@h/p/1.0/bert.tar.gz?x", "https://u:secret@h",
        "https://u:secret@h/p/1%2F0/bert.tar.gz", "oci://u:secret@127.0.0.1/models", "oci://u:secret@127.0.0.1",
        "oci://u:secret@127.0.0.1/models/a_b:1", "oci://h/a/B:1", "oci://h/a/b:", "oci://h/a/b:1/2:", "oci://h/a/b:a b",
        "oci://h/a/b@sha256:123",
    ],
)  # fmt: skip
def test_an_address_of_anything_else_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError) as caught:
        bundle_address.parse(address)
    assert "secret" not in str(caught.value)


def test_the_channel_of_a_bundle_is_the_one_that_keys_are_trusted_for() -> None:
    assert bundle_address.parse("bert") is None
    for address, channel in {
        "https://u:p@h/v/1.0/bert.tar.gz": "https://u:p@h/v",
        "s3://bucket/1.0/bert.tar.gz": "s3://bucket",
        "oci://h:5000/v/bert:1.0": "oci://h:5000/v",
        f"oci://h/v/bert:1.0@sha256:{'0' * 64}": "oci://h/v",
    }.items():
        parsed = bundle_address.parse(address)
        assert parsed
        assert parsed[0] == channel
