"""The folder with keys: who can read them, and whom a user trusts for a channel."""

import errno
import os
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, InputError, IntegrityError, UnavailableError
from packyard.sharing.trust.keyring import Keyring
from packyard.sharing.trust.keys import SigningKey

ADDRESS = "https://models.example.com"
PUBLISHER = SigningKey.new().public


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "keys")


def _never(file: str) -> bytes:
    raise AssertionError(f"a passphrase is asked for {file}")


def test_a_new_private_key_is_encrypted_and_readable_by_the_user_alone(ring: Keyring) -> None:
    before = os.umask(0)
    try:
        key, public_file = ring.new("release", lambda: b"secret")
    finally:
        os.umask(before)
    private = ring.folder / "release.key.pem"
    assert private.stat().st_mode & 0o777 == 0o600
    assert ring.folder.stat().st_mode & 0o777 == 0o700
    assert b"ENCRYPTED" in private.read_bytes()
    assert public_file.read_bytes() == key.public.to_pem()
    assert ring.signing("release", lambda _: b"secret") == key
    assert ring.public("release") == key.public


def test_there_are_no_keys_below_what_is_no_folder_and_a_folder_that_cannot_be_read_is_an_error(
    ring: Keyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Keyring(Path("/dev/null/packyard/keys")).trusted(ADDRESS) == ()
    ring.folder.mkdir()
    (ring.folder / "channels").touch()
    with pytest.raises(UnavailableError, match="channels: Not a directory"):
        ring.trusted(ADDRESS)

    def denied(path: object) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(UnavailableError, match="channels: Permission denied"):
        Keyring(tmp_path / "others").trusted(ADDRESS)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_a_private_key_that_others_can_read_is_refused(ring: Keyring, mode: int) -> None:
    ring.new("release", None)
    (ring.folder / "release.key.pem").chmod(mode)
    with pytest.raises(InputError, match=rf"has mode {mode:04o}: others can read it .*chmod 600"):
        ring.signing("release", _never)


def test_no_key_is_overwritten(ring: Keyring) -> None:
    key, _ = ring.new("release", None)
    with pytest.raises(ConflictError, match=r"release\.pub\.pem: exists already"):
        ring.new("release", None)
    assert ring.signing("release", _never) == key
    (ring.folder / "release.pub.pem").rename(ring.folder / "other.pub.pem")
    with pytest.raises(ConflictError, match=r"other\.pub\.pem: exists already"):
        ring.new("other", None)
    assert ring.signing_names() == ["release"]


@pytest.mark.parametrize("name", ["", "../release", "a/b", ".hidden", "a\nb", "x" * 64])
def test_refuses_a_name_that_is_no_file_name(ring: Keyring, name: str) -> None:
    with pytest.raises(InputError, match="is not a name for a key"):
        ring.new(name, None)
    assert not ring.folder.exists()


def test_keys_are_trusted_for_one_channel_until_it_is_let_go(ring: Keyring, tmp_path: Path) -> None:
    (tmp_path / "release.pub.pem").write_bytes(PUBLISHER.to_pem())
    key = ring.named(str(tmp_path / "release.pub.pem"))
    assert (key, key.name) == (PUBLISHER, "release")
    ring.trust(f"{ADDRESS}/", [key])
    assert ring.trusted(ADDRESS)[0].name == "release"
    assert ring.trusted("https://other.example.com") == ()
    own = ring.new("own", None)[0].public
    assert ring.named("own") == own
    ring.trust(ADDRESS, [own])
    assert ring.trusted(ADDRESS) == (own,), "others take the place of those before"
    assert [channel.address for channel in ring.channels()] == [ADDRESS]
    assert ring.untrust(ADDRESS)
    assert ring.trusted(ADDRESS) == ()


@pytest.mark.parametrize("change", [b"", b'"required"', b'"key": "', b"[", b'"channel": "'])
def test_a_damaged_file_of_a_channel_is_refused_and_not_taken_for_none(ring: Keyring, change: bytes) -> None:
    ring.trust(ADDRESS, [PUBLISHER])
    (file,) = (ring.folder / "channels").iterdir()
    file.write_bytes(file.read_bytes().replace(change, b"x") if change else b"")
    for act in (lambda: ring.trusted(ADDRESS), ring.channels):
        with pytest.raises(IntegrityError, match=r"remove the file, and trust the key again"):
            act()
    assert ring.untrust(ADDRESS)
