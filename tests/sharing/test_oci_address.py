"""Addresses of channels in registries."""

from __future__ import annotations

import pytest

from packyard.core.errors import InputError
from packyard.sharing.stores import open_store
from packyard.sharing.stores.oci.address import Address


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
    assert str(Address.parse("oci://h.example/a/b/")) == "oci://h.example/a/b"
    assert Address.parse("oci://h.example:443/a") == Address.parse("oci+https://h.example/a")
