"""What could go on with less than was meant stops instead, and says so: no key, no index, other bytes, no packages."""

import shutil
from pathlib import Path

import pytest

import tiny
from sharing.test_provenance import KEY
from tiny import done, packyard, refused

PEM = {"PACKYARD_SIGNING_KEY": KEY.to_pem(None).decode()}


@pytest.fixture
def channel(home: Path) -> Path:
    """A channel that is signed, and whose key is trusted."""
    (home / "k.pub.pem").write_bytes(KEY.public.to_pem())
    publish(home, home / "channel", **PEM)
    done("keys", "trust", home / "k.pub.pem", home / "channel")
    return home / "channel"


def publish(home: Path, to: Path, *words: object, version: str = "1.0", text: str = "", **env: str) -> str:
    root = home / "sources"
    if not root.exists():
        tiny.workspace(root)
    if text:
        (root / "packages/p/files/run.txt").write_text(text)
    return packyard("publish", "--workspace", root, "--to", to, "--version", version, *words, **env).stderr


def test_an_empty_signing_key_is_refused_by_every_verb_that_signs(home: Path, channel: Path) -> None:
    for words in (
        ("publish", "--workspace", home / "sources", "--to", home / "new", "--version", "3.0", "--close"),
        ("copy", channel, home / "new", "p"),
        ("yank", "p@1.0", "--reason", "bad", "--from", channel),
        ("fsck", channel, "--repair"),
        ("gc", channel, "--yanked"),
    ):
        for value in ("", " \n"):
            process = packyard(*words, PACKYARD_SIGNING_KEY=value)
            assert (process.returncode, "PACKYARD_SIGNING_KEY is set, and empty" in process.stderr) == (2, True)
    assert not (home / "new").exists()


def test_no_verb_follows_a_signed_index_by_an_unsigned_one(home: Path, channel: Path) -> None:
    shutil.rmtree(home / "CONFIG")  # of somebody who trusts nobody, and has no key
    before = (channel / "index/index.json").read_bytes()
    publish(home, home / "plain", version="2.0")
    for words in (
        ("publish", "--workspace", home / "sources", "--to", channel, "--version", "3.0"),
        ("copy", home / "plain", channel),
        ("yank", "p@1.0", "--reason", "bad", "--from", channel),
        ("fsck", channel, "--repair"),
        ("publish", "--to", channel, "--version", "1.0", "--workspace", home / "sources", "--close"),
    ):
        assert "its index is signed, and you have no key" in refused(*words)
    assert (channel / "index/index.json").read_bytes() == before


def test_a_stripped_index_is_refused_by_who_trusts_a_key(home: Path, channel: Path) -> None:
    done("yank", "p@1.0", "--reason", "bad", "--from", channel, **PEM)
    shutil.rmtree(channel / "index")
    shutil.rmtree(home / "STATE")  # of a new user
    assert "no index" in refused("get", "p@1.0", "--from", channel, "--to", home / "a")
