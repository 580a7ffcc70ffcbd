"""What could go on with less than was meant stops instead, and says so: no key, no index, other bytes, no packages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import tiny
from sharing.test_provenance import KEY
from tiny import done, packyard

PEM = {"PACKYARD_SIGNING_KEY": KEY.to_pem(None).decode()}


@pytest.fixture
def channel(home: Path) -> Path:
    """A channel that is signed, and whose key is trusted."""
    (home / "k.pub.pem").write_bytes(KEY.public.to_pem())
    publish(home, home / "channel", **PEM)
    done("keys", "trust", home / "k.pub.pem", home / "channel")
    return home / "channel"


def refused(says: str, *words: object, code: int = 1, **env: str) -> None:
    found = packyard(*words, **env)
    assert found.returncode == code, found.stderr
    assert re.search(says, found.stderr), found.stderr


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
            refused("PACKYARD_SIGNING_KEY is set, and empty", *words, code=2, PACKYARD_SIGNING_KEY=value)
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
        refused("its index is signed, and you have no key", *words)
    assert (channel / "index/index.json").read_bytes() == before


def test_a_stripped_index_is_refused_by_who_trusts_a_key(home: Path, channel: Path) -> None:
    done("yank", "p@1.0", "--reason", "bad", "--from", channel, **PEM)
    shutil.rmtree(channel / "index")
    shutil.rmtree(home / "STATE")  # of a new user
    refused("no index", "get", "p@1.0", "--from", channel, "--to", home / "a")
