"""The folder with keys: who can read them, whom a user trusts, and what a revocation does."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, InputError, UnavailableError
from packyard.sharing.trust.keyring import Keyring
from packyard.sharing.trust.keys import SigningKey

ADDRESS = "https://models.example.com"
PUBLISHER = SigningKey.new().public
PEM = PUBLISHER.to_pem()


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "keys")


def _never(file: str) -> bytes:
    raise AssertionError(f"a passphrase is asked for {file}")


def test_a_new_private_key_is_encrypted_and_readable_by_the_user_alone(ring: Keyring) -> None:
    before = os.umask(0)
    try:
        key, public_file = ring.new("release", b"secret")
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
    assert Keyring(Path("/dev/null/packyard/keys")).trusted() == []
    ring.folder.mkdir()
    (ring.folder / "trusted").touch()
    with pytest.raises(UnavailableError, match="trusted: Not a directory"):
        ring.trusted()

    def denied(path: object) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(UnavailableError, match="trusted: Permission denied"):
        Keyring(tmp_path / "others").trusted()


def test_an_unencrypted_key_asks_for_no_passphrase(ring: Keyring) -> None:
    key, _ = ring.new("release", None)
    assert ring.signing("release", _never) == key


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


def test_an_unknown_name_is_refused_with_the_nearest(ring: Keyring) -> None:
    ring.new("release", None)
    with pytest.raises(InputError, match="did you mean 'release'"):
        ring.signing("relase", _never)


def test_without_a_folder_nobody_is_trusted(ring: Keyring) -> None:
    assert ring.trusted() == []
    assert not ring.trust_for(ADDRESS).is_required


@pytest.mark.usefixtures("clean_environment")
def test_a_key_for_a_bucket_is_trusted_at_the_server_where_that_was_said(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://zoo.example.com")
    ring.trust(PEM, file="publisher.pem", channel="s3://zoo/v")
    assert ring.trust_for("s3://zoo/v/").get(PUBLISHER.id) == PUBLISHER
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert not ring.trust_for("s3://zoo/v").is_required


def test_a_key_is_trusted_for_all_channels_or_for_some(ring: Keyring) -> None:
    ring.trust(PEM, file="dir/release.pub.pem", channel=ADDRESS + "/")
    (known,) = ring.trusted()
    assert (known.name, known.channels) == ("release", (ADDRESS,))
    assert ring.trust_for(f"{ADDRESS}/").get(PUBLISHER.id) == PUBLISHER
    assert not ring.trust_for("https://other.example.com").is_required
    ring.trust(PEM, file="x", channel="s3://bucket")
    assert ring.trusted()[0].channels == (ADDRESS, "s3://bucket")
    ring.trust(PEM, file="x")
    assert ring.trusted()[0].channels == ()
    assert ring.trust_for("https://other.example.com").is_required
    ring.trust(PEM, file="x", channel=ADDRESS)
    assert ring.trusted()[0].channels == ()


def test_the_configuration_requires_keys_among_those_that_are_trusted(ring: Keyring) -> None:
    other = SigningKey.new().public
    ring.trust(PEM, file="a.pem")
    ring.trust(other.to_pem(), file="b.pem")
    trust = ring.trust_for(ADDRESS, [other.id])
    assert (trust.get(PUBLISHER.id), trust.get(other.id)) == (None, other)
    missing = SigningKey.new().public.id
    with pytest.raises(InputError, match=f"requires the key {missing} for {ADDRESS}, which is not here"):
        ring.trust_for(ADDRESS, [other.id, missing])


@pytest.mark.parametrize("by", ["id", "hex", "short", "name"])
def test_a_revoked_key_is_trusted_nowhere_and_signs_nothing(ring: Keyring, by: str) -> None:
    key, file = ring.new("release", None)
    ring.trust(file.read_bytes(), file="release.pub.pem")
    key_id = key.public.id
    text = {"id": key_id, "hex": key_id.hex, "short": key_id.hex[:8], "name": "release"}[by]
    assert ring.find(text) == key_id
    ring.revoke(key_id)
    trust = ring.trust_for(ADDRESS)
    assert trust.get(key_id) is None
    assert trust.is_required
    with pytest.raises(InputError, match="which is revoked"):
        ring.signing("release", _never)
    with pytest.raises(ConflictError, match="to trust it again, remove"):
        ring.trust(file.read_bytes(), file="release.pub.pem")


def test_a_key_that_is_not_here_is_revoked_by_its_whole_id(ring: Keyring) -> None:
    ring.revoke(ring.find(PUBLISHER.id))
    assert ring.revoked() == {PUBLISHER.id}
    with pytest.raises(InputError, match="is not a key that is known here"):
        ring.find("sha256:" + "0" * 63)
    with pytest.raises(InputError, match="is not a key that is known here"):
        ring.find("../x")


def test_a_name_of_two_keys_revokes_neither(ring: Keyring) -> None:
    ring.trust(PEM, file="release.pem")
    ring.trust(SigningKey.new().public.to_pem(), file="release.pem")
    with pytest.raises(InputError, match="names several keys"):
        ring.find("release")
    assert not ring.revoked()


def test_a_file_that_was_put_there_under_another_keys_name_is_refused(ring: Keyring) -> None:
    ring.trust(PEM, file="a.pem")
    file = ring.folder / "trusted" / f"{PUBLISHER.id.hex}.pem"
    file.write_bytes(SigningKey.new().public.to_pem())
    with pytest.raises(InputError, match="must be named for the key in it"):
        ring.trusted()


def test_a_file_name_with_signs_gives_no_line_to_the_file(ring: Keyring) -> None:
    found = ring.trust(PEM, file="dir/a\nChannel: evil.pem")
    assert (found.name, found.channels) == ("key", ())
    assert ring.trusted() == [found]


def test_an_address_with_a_line_break_is_refused(ring: Keyring) -> None:
    with pytest.raises(InputError, match="is not the address of a channel"):
        ring.trust(PEM, file="a.pem", channel="https://example.com\nName: x")
    assert ring.trusted() == []
