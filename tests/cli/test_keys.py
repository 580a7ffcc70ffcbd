"""`keys` and `config`: what they print, ask and refuse."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

import tiny
from tiny import COMMAND, done, environment, packyard

UNSET = ("PACKYARD_KEY_PASSPHRASE", "PACKYARD_SIGNING_KEY", "PACKYARD_CHANNEL")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config" / "packyard"


def test_a_key_is_made_trusted_listed_and_revoked(home: Path) -> None:
    key_id = done("keys", "new", "release", PACKYARD_KEY_PASSPHRASE="secret").strip()
    file = home / "keys" / "release.pub.pem"
    assert done("keys", "trust", file, "--channel", "https://example.com/") == key_id + "\n"
    expected = [
        {"id": key_id, "name": "release", "use": "signs", "channels": []},
        {"id": key_id, "name": "release", "use": "trusted", "channels": ["https://example.com"]},
    ]
    assert json.loads(done("keys", "list", "-o", "json")) == expected
    assert done("keys", "revoke", "release") == key_id + "\n"
    assert {row["use"] for row in json.loads(done("keys", "list", "-o", "json"))} == {"revoked"}
    assert key_id in done("keys", "list")


def test_an_unencrypted_key_takes_an_explicit_choice(home: Path) -> None:
    refused = packyard("keys", "new", "release", HOME="/", XDG_CONFIG_HOME=str(home.parent))
    assert refused.returncode == 2
    assert "set PACKYARD_KEY_PASSPHRASE, or give --no-passphrase" in refused.stderr
    assert not home.exists()
    done("keys", "new", "release", "--no-passphrase")
    assert b"ENCRYPTED" not in (home / "keys" / "release.key.pem").read_bytes()


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (("secret", "secret"), 0, "release.pub.pem"),
        (("secret", "secrets"), 2, "the passphrases differ"),
        (("",), 2, "the passphrases must not be empty"),
    ],
)
def test_the_passphrase_is_asked_twice_on_a_terminal_and_not_shown(
    home: Path, typed: tuple[str, ...], code: int, said: str
) -> None:
    ours, theirs = pty.openpty()
    words = [*COMMAND, "keys", "new", "release"]
    pipes = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, **pipes, env=environment(), start_new_session=True)
    told = b""
    for line in typed:
        while not told.endswith(b": "):  # what is typed before the prompt is thrown away
            told += os.read(process.stderr.fileno(), 1000)
        os.write(ours, line.encode() + b"\n")
        told += b"\n"
    out, rest = process.communicate(timeout=300)
    os.close(theirs)
    os.close(ours)
    story = (told + out + rest).decode()
    assert process.returncode == code, story
    assert said in story
    assert "secret" not in story
    assert (home / "keys" / "release.key.pem").exists() == (code == 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name ACTION; type packyard keys new NAME, packyard keys trust FILE"),
        (("make",), "ACTION is new, trust, list, revoke or untrust, not 'make'"),
        (("new",), "name the key, for example for your team: packyard keys new NAME"),
        (("trust",), "name the file with the publisher's public key: packyard keys trust FILE"),
        (("revoke",), "name a key that packyard keys list shows: packyard keys revoke ID"),
        (("list", "x"), "lists all keys, and takes no"),
        (("new", "x", "--channel", "y"), "--channel is for"),
        (("list", "--no-passphrase"), "--no-passphrase is for"),
    ],
)
def test_wrong_usage_says_what_to_type(words: tuple[str, ...], said: str) -> None:
    process = packyard("keys", *words)
    assert process.returncode == 2
    assert said in process.stderr
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.nightly
def test_config_shows_each_value_with_its_origin(home: Path) -> None:
    home.mkdir(parents=True)
    file = home / "config.yaml"
    file.write_text("# ours\nchannel: https://me:secret@example.com/m\ncacheLimit: 2Gi\n")

    def shown(*words: str, **env: str) -> dict[str, tuple[str, str]]:
        rows = json.loads(done("config", *words, "-o", "json", **env))
        return {row["name"]: (row["value"], row["origin"]) for row in rows}

    assert shown()["channel"] == ("https://***@example.com/m", f"{file}:2")
    assert shown()["cacheLimit"] == (str(2 << 30), f"{file}:3")
    assert shown()["timeout"] == ("300", "default")
    assert shown(PACKYARD_CHANNEL="/srv/m")["channel"] == ("/srv/m", "PACKYARD_CHANNEL")
    assert shown("--from", "/x", PACKYARD_CHANNEL="/srv/m")["channel"] == ("/x", "--from")
    assert shown(PACKYARD_SIGNING_KEY="pem")["PACKYARD_SIGNING_KEY"] == ("(set)", "PACKYARD_SIGNING_KEY")
    assert shown()["config folder"] == (str(home), "XDG_CONFIG_HOME")
    assert f"{file}:2" in done("config", COLUMNS="40")


def test_config_refuses_a_field_that_nobody_knows(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.yaml").write_text("chanel: /srv/m\n")
    process = packyard("config")
    assert process.returncode == 1
    assert "config.yaml:1:1: chanel: is not a known key (did you mean 'channel'?)" in process.stderr


def test_the_configuration_requires_one_of_its_keys_for_a_channel(home: Path, tmp_path: Path) -> None:
    def publish(name: str) -> Path:
        done("keys", "new", name, "--no-passphrase")
        done("keys", "trust", home / "keys" / f"{name}.pub.pem")
        done("publish", "--version", "1.0", "--to", tmp_path / name, "--key", name, "--workspace", source)
        return tmp_path / name / "1.0/p.tar.gz"

    source = tiny.workspace(tmp_path / "source")
    ours, theirs = publish("ours"), publish("theirs")
    assert "signed by theirs" in done("verify", theirs, "--from", tmp_path / "theirs")
    rows = {row["name"]: row["id"] for row in json.loads(done("keys", "list", "-o", "json"))}
    (home / "config.yaml").write_text(f"trust:\n  {tmp_path}/theirs/: [{rows['ours']}]\n")
    process = packyard("verify", theirs, "--from", tmp_path / "theirs")
    assert process.returncode == 1
    assert f"is signed by {rows['theirs']}, which you do not trust" in process.stderr
    assert "signed by ours" in done("verify", ours, "--from", tmp_path / "ours")
    shown = {row["name"]: row for row in json.loads(done("config", "-o", "json"))}
    expected = {"name": f"trust {tmp_path}/theirs", "value": rows["ours"], "origin": f"{home}/config.yaml:2"}
    assert shown[f"trust {tmp_path}/theirs"] == expected


def test_a_channel_that_was_not_signed_is_signed_as_publishing_md_says(home: Path, tmp_path: Path) -> None:
    root, channel = tiny.workspace(tmp_path / "sources"), tmp_path / "channel"

    def publish(version: str, *words: object) -> None:
        done("publish", "--workspace", root, "--version", version, "--to", channel, *words)

    publish("1.0", "--close")
    publish("1.1")
    done("yank", "p@1.1", "--reason", "too slow", "--in", channel)
    done("keys", "new", "ci", "--no-passphrase")
    words = ("publish", "--workspace", root, "--version", "1.1", "--to", channel, "--key", "ci")
    told = packyard(*words).stderr
    assert "the index is signed from now on; the signature vouches for p\n" in told
    done("keys", "trust", home / "keys/ci.pub.pem", "--channel", channel)
    assert "listed by the channel, signed by ci" in packyard("get", "p", "--from", channel, "--into", tmp_path).stderr
    assert done("fsck", channel) == ""
    done("copy", channel, tmp_path / "mirror", "p@1.0", "--key", "ci")
