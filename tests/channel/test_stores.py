"""Which store an address opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.channel import open_store
from packyard.errors import InputError


@pytest.mark.parametrize("address", ["{}", "file://{}", "file://localhost{}"])
def test_a_path_and_a_file_address_are_a_directory(tmp_path: Path, address: str) -> None:
    channel_dir = tmp_path / "my channel"
    open_store(address.format(str(channel_dir).replace(" ", "%20") if "://" in address else channel_dir)).put("a", b"1")
    assert (channel_dir / "a").read_bytes() == b"1"


@pytest.mark.parametrize("address", ["http://localhost:1/x", "https://user:secret@example.com/x/", "HTTP://h"])
def test_a_web_address_is_a_web_server(address: str) -> None:
    assert repr(open_store(address)).startswith("HTTPStore('http")


def test_any_other_scheme_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(InputError, match=r"an address 'ftp://…' \(use a directory, file://, http"):
        open_store("ftp://example.com/channel")


@pytest.mark.parametrize("address", ["file://server/share", "file://", "file://[", "file:///a%00b"])
def test_a_file_address_of_another_machine_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="names no local directory"):
        open_store(address)


@pytest.mark.parametrize("address", ["http://", "http://a:b:c/", "http://[::1/x", "https://u:secret@h/x?y=secret"])
def test_an_address_without_a_meaning_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError, match="the address of a channel") as caught:
        open_store(address)
    assert "secret" not in str(caught.value)
