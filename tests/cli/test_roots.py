"""`keys root` and `keys refresh`: the ceremony of a root, as people type it, and what follows for a channel."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import reading
import real
import tiny
from sharing import registries
from tiny import done, packyard

ROOT = """\
apiVersion: packyard/v1
kind: Root
root: {keys: [alice.pub.pem, bob.pub.pem, carol.pub.pem], threshold: 2}
heads: {keys: [ci.pub.pem], expires: 30}
revocation: {keys: [oncall.pub.pem]}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    for name in ("PACKYARD_SIGNING_KEY", "PACKYARD_CHANNEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PACKYARD_KEY_PASSPHRASE", "secret")
    monkeypatch.chdir(tmp_path)
    for name in ("alice", "bob", "carol", "ci", "ci-2", "oncall"):
        done("keys", "new", name, "--no-passphrase")
    for file in (tmp_path / "CONFIG/packyard/keys").glob("*.pub.pem"):
        shutil.copy(file, tmp_path)
    tiny.workspace(tmp_path / "sources")
    return tmp_path


def said(*words: object, code: int = 0) -> str:
    found = packyard(*words)
    assert found.returncode == code, found.stderr
    return found.stderr


def rooted(text: str = ROOT, version: int = 1, verb: str = "init", to: str = "channel") -> None:
    """Make a root, let alice and bob sign it, and publish it."""
    Path("root.yaml").write_text(text)
    done("keys", "root", verb, "root.yaml", "--in", to)
    assert "signatures are missing" in said("keys", "root", "sign", f"{version}.root.json", "--key", "alice")
    done("keys", "root", "sign", f"{version}.root.json", "--key", "bob", "--in", to)


def published(version: str, *keys: str, code: int = 0, to: str = "channel", more: tuple[str, ...] = ()) -> str:
    flags = [word for key in keys for word in ("--key", key)]
    return said("publish", "--workspace", "sources", "--version", version, "--to", to, *flags, *more, code=code)


def versions(of: str = "channel") -> list[str]:
    return [row["version"] for row in json.loads(done("list", "--from", of, "-o", "json"))]


def test_a_root_is_made_signed_published_trusted_and_rotated() -> None:
    rooted()
    assert "has a root, which says who signs there" in published("1.0", "ci", code=1)
    done("keys", "trust", "1.root.json", "--channel", "channel")
    assert "which you do not trust for this channel" in published("1.0", "ci-2", code=1)
    published("1.0", "ci")
    assert versions() == ["1.0"]
    rooted(ROOT.replace("{keys: [ci.pub", "{retired: [ci.pub.pem], keys: [ci-2.pub"), 2, "rotate")
    assert "which you do not trust" in said("list", "--from", "channel", code=1)
    assert "refresh --in CHANNEL --head NUMBER" in said("keys", "refresh", "--in", "channel", "--key", "ci-2", code=1)
    done("keys", "refresh", "--in", "channel", "--head", "2", "--key", "ci-2")
    assert versions() == ["1.0"]
    published("1.1", "ci-2")
    assert said("fsck", "channel") == "nothing is wrong\n"
    (row, *_) = json.loads(done("keys", "root", "show", "--in", "channel", "-o", "json"))
    assert (row["version"], row["threshold"]) == (2, 2)


def test_a_next_root_that_is_none_is_refused_by_every_verb_with_who_mends_it() -> None:
    rooted()
    done("keys", "trust", "1.root.json", "--channel", "channel")
    published("1.0", "ci")
    following = Path("channel/index/root/2.root.json")
    says = "index/root/2.root.json: cannot be read as JSON: "
    for damage in (b"", b"<html>", b"[]", Path("1.root.json").read_bytes()):
        following.write_bytes(damage)
        for words in (
            ("list", "--from", "channel"),
            ("fsck", "channel"),
            ("yank", "p@1.0", "--reason", "x", "--in", "channel", "--key", "ci"),
        ):
            told = said(*words, code=1)
            assert told.startswith("error: index/root/2.root.json: "), told
            assert says in told or damage[:1] in (b"[", b"{")
            assert "(whoever holds the channel's root puts the right file there, or removes this one)" in told
    following.unlink()
    assert said("fsck", "channel") == "nothing is wrong\n"


def test_the_person_on_call_revokes_a_stolen_key_and_goes_back_to_a_good_head() -> None:
    rooted(ROOT.replace("[ci.pub.pem]", "[ci.pub.pem, ci-2.pub.pem]"))
    done("keys", "trust", "1.root.json", "--channel", "channel")
    published("1.0", "ci-2")
    published("6.6.6", "ci")  # by the thief
    assert "this does not revoke" in said("keys", "revoke", "ci-2", "--in", "channel", "--key", "ci", code=1)
    assert versions() == ["6.6.6"]
    done("keys", "revoke", "ci", "--in", "channel", "--key", "oncall")
    assert "which is revoked" in said("list", "--from", "channel", code=1)
    done("keys", "refresh", "--in", "channel", "--head", "2", "--key", "ci-2")
    assert versions() == ["1.0"]
    published("1.1", "ci-2")
    assert "revoked" in published("1.2", "ci", code=1)


def test_a_root_that_too_few_signed_is_not_published(here: Path) -> None:
    Path("root.yaml").write_text(ROOT)
    done("keys", "root", "init", "root.yaml", "--in", "channel")
    done("keys", "root", "sign", "1.root.json", "--key", "alice", "--in", "channel")
    done("keys", "root", "sign", "1.root.json", "--key", "alice", "--in", "channel")
    assert not list(here.glob("channel/index/root/*"))
    shown = done("keys", "root", "show", "1.root.json")
    assert re.findall(r"(\w+) sha256:[0-9a-f]{64} has signed", shown) == ["alice"]
    assert "is not a root key of it" in said("keys", "root", "sign", "1.root.json", "--key", "ci", code=1)


def _packages(*patterns: str) -> tuple[str, str]:
    lines = [f'  "{each}": {{keys: [ci.pub.pem]}}\n' for each in patterns]
    return "revocation:", f"packages:\n{''.join(lines)}revocation:"


def test_patterns_of_which_each_counts_are_taken() -> None:
    Path("root.yaml").write_text(ROOT.replace(*_packages("team-a-*", "team-?", "team-b*", "*")))
    done("keys", "root", "init", "root.yaml", "--in", "channel")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("threshold: 2", "threshold: 4", "threshold: must be from 1 to the number of its keys, 3"),
        ("threshold: 2", "threshold: 0", "threshold: must be from 1"),
        ("heads:", "head:", "did you mean 'heads'"),
        ("[ci.pub.pem]", "[ci.pub.pem, ci.pub.pem]", "is named twice"),
        ("[ci.pub.pem]", "[none.pub.pem]", "none.pub.pem"),
        ("expires: 30", "expires: never", "must be a number of days"),
        ("kind: Root", "kind: Boot", "must be Root"),
        (*_packages("*", "team-*"), "all its names fit '*' before it (write 'team-*' first)"),
        (*_packages("team-*", "team-a-*"), "all its names fit 'team-*' before it"),
    ],
)
def test_what_is_wrong_with_root_yaml_is_said(here: Path, old: str, new: str, says: str) -> None:
    Path("root.yaml").write_text(ROOT.replace(old, new))
    assert says in said("keys", "root", "init", "root.yaml", "--in", "channel", code=1)
    assert not list(here.glob("*.root.json"))


def test_a_team_signs_its_packages_and_the_job_lists_them(here: Path) -> None:
    done("keys", "new", "team", "--no-passphrase")
    shutil.copy(here / "CONFIG/packyard/keys/team.pub.pem", here)
    rooted(ROOT + "packages: {p*: {keys: [team.pub.pem]}}\n")
    done("keys", "trust", "1.root.json", "--channel", "channel")
    assert "which you do not trust" in published("1.0", "ci", code=1)
    assert not list(here.glob("channel/1.0/*"))
    published("1.0", "ci", "team")
    assert done("get", "p@1.0", "--from", "channel", "--into", "got")


@pytest.mark.nightly
def test_fewer_signatures_than_the_root_requires_change_nothing_by_any_verb(here: Path) -> None:
    rooted(ROOT.replace("[ci.pub.pem], expires: 30", "[ci.pub.pem, ci-2.pub.pem], threshold: 2"))
    done("keys", "trust", "1.root.json", "--channel", "channel")
    published("1.0", "ci", "ci-2")
    published("1.1", "ci", "ci-2", to="other")
    next(here.glob("channel/index/nodes/*/*")).unlink()
    before = reading.files(here / "channel")
    verbs = (
        ("fsck", "channel", "--repair"),
        ("copy", "other", "channel"),
        ("yank", "p@1.0", "--reason", "slow", "--in", "channel"),
        ("gc", "channel", "--yanked"),
        ("keys", "refresh", "--in", "channel"),
    )
    for words in verbs:
        told = said(*words, "--key", "ci", code=1)
        assert "signed by fewer than the 2 keys that the channel's root requires" in told, words
        assert "(repeat --key: --key NAME --key NAME;" in told, words
    assert reading.files(here / "channel") == before
    for words in verbs:
        said(*words, "--key", "ci", "--key", "ci-2")
    assert said("fsck", "channel") == "nothing is wrong\n"
    assert versions() == ["1.1"]


@pytest.mark.nightly
def test_copy_takes_what_the_key_of_the_team_signed_and_lists_what_is_pending_by_it(here: Path) -> None:
    done("keys", "new", "team", "--no-passphrase")
    shutil.copy(here / "CONFIG/packyard/keys/team.pub.pem", here)
    rooted(ROOT + "packages: {p*: {keys: [team.pub.pem]}}\n")
    done("keys", "trust", "1.root.json", "--channel", "channel")
    published("1.0", "ci", to="other")
    published("1.1", "ci", "team", to="other")
    assert "1.0/p.tar.gz" in said("copy", "other", "channel", "p@1.0", "--key", "ci", code=1)
    assert not list(here.glob("channel/1.0/*"))
    published("1.2", "ci", "team", more=("--shard", "0/1"))
    said("copy", "other", "channel", "p@1.1", "--key", "ci")
    assert versions() == ["1.2"]
    for version in ("1.1", "1.2"):
        done("get", f"p@{version}", "--from", "channel", "--into", version)
    assert said("fsck", "channel") == "nothing is wrong\n"


@pytest.mark.nightly
def test_copy_says_how_a_root_takes_what_another_publisher_signed(here: Path) -> None:
    rooted()
    done("keys", "trust", "1.root.json", "--channel", "channel")
    published("1.0", "ci-2", to="other")
    told = said("copy", "other", "channel", "--key", "ci", code=1)
    assert not list(here.glob("channel/1.0/*"))
    rotate = re.search(r"its publisher's key under packages: in root\.yaml, then: packyard (.*)\)", told)
    assert rotate is not None
    Path("root.yaml").write_text(ROOT + "packages: {p*: {keys: [ci-2.pub.pem]}}\n")
    done(*rotate[1].split())
    said("keys", "root", "sign", "2.root.json", "--key", "alice")
    done("keys", "root", "sign", "2.root.json", "--key", "bob", "--in", "channel")
    done("copy", "other", "channel", "--key", "ci")
    assert done("get", "p@1.0", "--from", "channel", "--into", "got")


@pytest.mark.nightly
def test_root_keys_are_not_offered_for_heads_and_others_not_for_a_root(here: Path) -> None:
    rooted()
    done("keys", "trust", "1.root.json", "--channel", "channel")
    assert published("1.0", code=2).endswith("choose one by --key: ci, ci-2, oncall\n")
    assert said("keys", "root", "sign", "1.root.json", code=2).endswith("choose one by --key: alice, bob, carol\n")
    for name in ("bob", "carol", "ci-2", "oncall"):
        (here / f"CONFIG/packyard/keys/{name}.key.pem").unlink()
    published("1.0")
    assert versions() == ["1.0"]
    said("keys", "root", "sign", "1.root.json")


@pytest.mark.nightly
def test_a_root_in_a_registry_is_that_of_a_directory(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DOCKER_CONFIG", str(here))
    (here / "registry").mkdir()
    with registries.distribution(real.pinned_program("registry"), here / "registry") as host:
        place = f"oci://{host}/models"
        rooted(to=place)
        assert "has a root, which says who signs there" in published("1.0", "ci", code=1, to=place)
        done("keys", "trust", "1.root.json", "--channel", place)
        published("1.0", "ci", to=place)
        rooted(ROOT.replace("{keys: [ci.pub", "{retired: [ci.pub.pem], keys: [ci-2.pub"), 2, "rotate", to=place)
        assert "which you do not trust" in said("list", "--from", place, code=1)
        done("keys", "refresh", "--in", place, "--head", "2", "--key", "ci-2")
        assert versions(place) == ["1.0"]
        done("get", "p", "--from", place)
        assert said("fsck", place) == "nothing is wrong\n"
        done("keys", "revoke", "ci-2", "--in", place, "--key", "oncall")
        assert "which is revoked" in said("list", "--from", place, code=1)
        (row, *_) = json.loads(done("keys", "root", "show", "--in", place, "-o", "json"))
        assert (row["version"], row["threshold"]) == (2, 2)
