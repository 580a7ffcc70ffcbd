"""Addresses of channels in registries."""

from __future__ import annotations

from packyard.sharing.stores.oci.address import Address


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
