"""Addresses of channels, and of single artifacts, in registries."""

from __future__ import annotations

import pytest

from packyard.core.errors import InputError
from packyard.sharing.stores import open_store
from packyard.sharing.stores.oci.address import Address, ArtifactAddress


def test_a_channel_is_no_artifact_and_the_other_way_round() -> None:
    for address in ("oci://h:5000/models", "oci://h:5000", "https://h/a:1", "bert@1.0", "/x/y:1"):
        assert ArtifactAddress.parse(address) is None
    found = ArtifactAddress.parse(f"oci://u:p@h:5000/a/b/bert:1.0@sha256:{'0' * 64}")
    assert found
    assert (str(found.channel), found.name, found.tag, found.digest) == (
        "oci://h:5000/a/b", "bert", "1.0", f"sha256:{'0' * 64}",
    )  # fmt: skip
    assert "p@" not in repr(found)


@pytest.mark.parametrize(
    "address",
    ["oci://h/a/B:1", "oci://h/a/b:", "oci://h/a/b:.x", "oci://h/a/b@sha256:123"],
)
def test_an_odd_address_of_an_artifact_is_refused(address: str) -> None:
    with pytest.raises(InputError):
        ArtifactAddress.parse(address)


@pytest.mark.parametrize(
    "address",
    ["oci://", "oci:///x", "oci://h/UPPER", "oci://h/a?b", "oci://h/a#b", "oci://h:x/a", "oci://h:0/a", "oci://[::1/a",
     "oci://h/a//b", "oci://h/../a", "oci://h/a/%41", "oci://h\n/a", "oci://h/" + "a" * 300, "oci://é/a",
     "oci+http://user:secret@registry.example/x"],
)  # fmt: skip
def test_an_odd_address_of_a_channel_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError) as caught:
        open_store(address)
    assert "secret" not in str(caught.value)


def test_an_address_says_how_the_registry_is_asked() -> None:
    asked = {
        "oci://localhost:5000/a": "http://localhost:5000",
        "oci://127.1.2.3/a": "http://127.1.2.3",
        "oci://[::1]:5000/a": "http://[::1]:5000",
        "oci://h.example/a": "https://h.example",
        "oci+http://h.example/a": "http://h.example",
        "oci+https://localhost/a": "https://localhost",
        "oci://docker.io/a": "https://registry-1.docker.io",
        "OCI://H.Example": "https://h.example",
        "oci://h.example:443/b": "https://h.example",
        "oci://h.example:80/b": "https://h.example:80",
        "oci://127.0.0.1:80/b": "http://127.0.0.1",
    }
    assert {address: Address.parse(address).url for address in asked} == asked
    assert str(Address.parse("oci://user:secret@h.example/a/b/")) == "oci://h.example/a/b"
    assert Address.parse("oci://h.example:443/a") == Address.parse("oci+https://h.example/a")
    assert "secret" not in repr(open_store("oci://user:secret@h.example/a/b/"))
