"""`packyard publish`: what it would do, what it did, in parts or at once; and what it refuses, before it writes."""

import json
from pathlib import Path

import pytest

import reading
import tiny
from packyard.sharing.index import access
from packyard.sharing.stores import open_store
from tiny import packyard

NAMES = ("p", "q", "r")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with three packages."""
    root = tiny.workspace(tmp_path / "sources")
    for name in NAMES[1:]:
        tiny.another(root, name)
    return root


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    return tmp_path / "channel"


def statuses(root: Path, channel: Path, *words: object, code: int = 0) -> dict[str, str]:
    """Return the status of each package, as JSON tells it."""
    found = packyard("publish", "--workspace", root, "--to", channel, *words, "--output", "json")
    assert found.returncode == code, found.stderr
    return {row["name"]: row["status"] for row in json.loads(found.stdout)}


def test_a_dry_run_says_what_would_be_new_unchanged_or_incomplete_and_refuses_a_conflict(
    root: Path, channel: Path
) -> None:
    assert statuses(root, channel, "--version", "1.0", "--dry-run") == dict.fromkeys(NAMES, "new")
    told = packyard("publish", "--workspace", root, "--to", channel, "--version", "v1.0", "--dry-run")
    assert told.stderr.startswith("warning: published as v1.0, with the v; most write 1.0\n")
    assert f"{channel} would be a new channel\n" in told.stderr
    assert not channel.exists()
    statuses(root, channel, "p", "q", "--version", "1.0")
    for words, is_ in ((["--dry-run"], "would be a new channel"), ([], "is a new channel, which begins with this")):
        told = packyard("publish", "--workspace", root, "--to", f"{channel}s", "p", "--version", "1.0", *words).stderr
        assert f"{channel}s {is_} (did you mean 'channel'?)\n" in told
    assert packyard("copy", channel, f"{channel}es").stderr == f"2 published: {channel}es\n"
    (channel / "1.0/q.tar.gz.sha256").unlink()
    (root / "packages/p/files/run.txt").write_text("other\n")
    before = reading.files(channel)
    dry = ("--version", "1.0", "--dry-run")
    assert "is published with other content" in tiny.refused("publish", "--workspace", root, "--to", channel, *dry)
    assert statuses(root, channel, "q", "r", *dry) == {"q": "incomplete", "r": "new"}
    assert reading.files(channel) == before
    assert "is published with other content" in tiny.refused("publish", "--workspace", root, "--to", channel, *dry[:2])
    assert reading.files(channel) == before
    assert statuses(root, channel, "q", "r", "--version", "1.0") == {"q": "completed", "r": "published"}
    assert statuses(root, channel, "q", "r", *dry) == {"q": "unchanged", "r": "unchanged"}
    told = packyard("publish", "q", "r", "--workspace", root, "--to", channel, *dry[:2])
    assert told.stderr == f"2 unchanged: {channel}\n"


def test_what_lint_warns_of_is_told_and_secrets_that_an_exception_allows(root: Path, channel: Path) -> None:
    base = root / "bases/one/cm.yaml"
    tiny.replace(base, "  labels: {app.kubernetes.io/name: x}\n", "")
    secret = "stringData:\n  # packyard: allow plain-secret: it was imported\n  password: hunter2\n"
    base.write_text(f"{base.read_text()}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: db}}\n{secret}")
    told = packyard("publish", "p", "--workspace", root, "--version", "1.0", "--to", channel).stderr
    assert f"; packyard lint p --workspace {root} shows them\n" in told
    assert f"warning: {base}:13: a secret in plain text, which all who read the channel read" in told


def test_parts_are_listed_at_once_and_the_last_closes_the_release(root: Path, channel: Path, tmp_path: Path) -> None:
    one = tmp_path / "one"
    statuses(root, one, "--version", "1.0", "--close")
    words = ("--workspace", root, "--to", channel, "--version", "1.0", "--close", "--shard")
    told = [packyard("publish", *words, f"{number}/4").stderr.splitlines()[-1] for number in (2, 0, 2, 1)]
    says = "the release 1.0 is open until the last shard is published; missing: "
    assert told == [says + rest for rest in ("0/4, 1/4, 3/4", "1/4, 3/4", "1/4, 3/4", "3/4")]
    assert "has 4 shards, and this is one of 2" in tiny.refused("publish", *words, "1/2")
    assert packyard("publish", *words, "3/4").stderr.splitlines()[-1] == "the release 1.0 is closed"
    assert [str(entry) for entry in access.read(open_store(str(channel))).entries] == ["p@1.0", "q@1.0", "r@1.0"]
    index, other = (access.read(open_store(str(each))) for each in (one, channel))
    assert (index.listed, index.releases) == (other.listed, other.releases)
    assert set(index.files_below()) == set(other.files_below())


@pytest.mark.parametrize("text", ["3/2", "2/2", "a/b", "", "1", "0/0", "1/2/3", "٣/4"])
def test_a_shard_that_is_none_is_refused(root: Path, channel: Path, text: str) -> None:
    words = ("--workspace", root, "--to", channel, "--version", "1.0", f"--shard={text}")
    code, _, said = tiny.run("publish", *words)
    assert (code, "must be K/N with K below N, found" in said) == (2, True)
    assert not channel.exists()
