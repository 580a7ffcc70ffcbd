"""`yank`, `publish --close`, `copy`, `search`, `fsck` and `fsck --repair`: what they print, and their exit codes."""

import json
import re
from pathlib import Path

import pytest

from packyard.sharing.stores import open_store
from sharing.examples import bundle, list_otherwise, publish
from tiny import done, packyard, write

UNSIGNED = "not signed: nobody can tell who published it\n"


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    store = open_store(str(tmp_path / "channel"))
    publish(store, [bundle("bert", version, f"# BERT {version}\n\nTrains BERT.\n") for version in ("1.0", "1.1")])
    publish(store, [bundle("gpt", "1.1", "# GPT\n\nGenerates text.\n")])
    return tmp_path / "channel"


def test_a_yanked_version_is_told_of_where_it_is_fetched(channel: Path, tmp_path: Path) -> None:
    yank = ("yank", "bert@1.1", "--reason", "diverges", "--from", channel)
    assert done(*yank) == "yanked     bert@1.1: diverges\n"
    assert done(*yank) == "unchanged  bert@1.1: diverges\n"
    (row,) = json.loads(done(*yank, "-o", "json"))
    assert (row["name"], row["yanked"], row["status"], row["key"]) == (
        "bert",
        "diverges",
        "unchanged",
        "1.1/bert.tar.gz",
    )
    latest = packyard("get", "bert", "--from", channel, "--to", tmp_path / "a")
    assert latest.stderr.startswith(f"bert@1.0 from {channel} (--from), the latest version; 1.1 is yanked: diverges\n")
    exact = packyard("get", "bert@1.1", "--from", channel, "--to", tmp_path / "b")
    assert exact.returncode == 0
    assert exact.stderr.startswith(f"bert@1.1 from {channel} (--from), the version that was asked for\n")
    assert exact.stderr.splitlines()[1] == "warning: bert@1.1 is yanked: diverges"
    pinned = tmp_path / "packyard.lock"
    done("get", "bert@1.1", "--from", channel, "--to", tmp_path / "c", "--lock", pinned)
    locked = packyard("get", "bert", "--locked", "--lock", pinned, "--to", tmp_path / "d")
    assert locked.returncode == 0
    assert locked.stderr.splitlines()[1] == "warning: bert@1.1 is yanked: diverges"
    rows = json.loads(done("list", "--from", channel, "-o", "json"))
    assert [(row["name"], row["version"]) for row in rows] == [("bert", "1.0"), ("gpt", "1.1")]
    other = packyard("yank", "bert@1.1", "--reason", "other", "--from", channel)
    assert (other.returncode, other.stderr) == (1, "error: bert@1.1 is yanked: diverges (a reason never changes)\n")
    undo = packyard("yank", "bert@1.1", "--undo", "--from", channel)
    assert (undo.returncode, "a yank stays" in undo.stderr) == (2, True)


def test_a_reason_that_somebody_forged_gets_no_line_of_its_own(channel: Path, tmp_path: Path) -> None:
    list_otherwise(channel, "bert", "1.1", yanked="no\nbert 1.1: all is proved")
    exact = packyard("get", "bert@1.1", "--from", channel, "--to", tmp_path / "a")
    assert exact.stderr.splitlines()[1] == r"warning: bert@1.1 is yanked: no\nbert 1.1: all is proved"


def test_checks_a_channel_and_makes_its_index_again(channel: Path) -> None:
    sound = packyard("fsck", channel)
    assert (sound.returncode, sound.stdout, sound.stderr) == (0, "", f"nothing is wrong\n{UNSIGNED}")
    for record in (channel / "index" / "p").glob("*/*"):
        record.unlink()
    broken = packyard("fsck", channel)
    assert broken.returncode == 1
    assert re.fullmatch(
        r"(missing  index/p/\w+/\w+\.json: it is listed, and not there "
        r"\(list again what is sound: packyard fsck \S+ --repair\)\n){2}",
        broken.stdout,
    )
    assert re.fullmatch(r"2 findings in .*channel\n", broken.stderr)
    (row, *_) = json.loads(packyard("fsck", channel, "-o", "json").stdout)
    assert set(row) == {"kind", "key", "message", "hint"}
    repaired = packyard("fsck", channel, "--repair", "--remove")
    assert repaired.returncode == 0, repaired.stdout
    assert re.fullmatch(
        r"(\w+@1\.\d is listed again\n){3}the index lists what is whole: its number is \d\nnothing is wrong\n"
        + UNSIGNED,
        repaired.stderr,
    )
    assert json.loads(done("fsck", channel, "--repair", "-o", "json")) == []
    (channel / "1.0/bert.tar.gz").write_bytes(b"x")
    assert packyard("fsck", channel, "--repair").stdout.startswith("altered  1.0/bert.tar.gz: ")
    assert "--remove has no meaning without --repair" in packyard("fsck", channel, "--remove").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("fsck", "CHANNEL"),
        ("fsck", "CHANNEL", "--repair"),
        ("yank", "bert@1.0", "--reason", "x", "--from", "CHANNEL"),
        ("copy", "CHANNEL", "TO", "bert@1.0"),
    ],
    ids=lambda words: words[0],
)
def test_a_folder_that_is_no_channel_is_refused_and_stays_as_it_is(words: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path / "folder/thesis.txt", "years of work")
    for name in ("folder", "missing"):
        here = [{"CHANNEL": str(tmp_path / name), "TO": str(tmp_path / "to")}.get(word, word) for word in words]
        process = packyard(*here)
        assert (process.returncode, process.stdout if words[0] != "fsck" else "") == (1, ""), process
        assert process.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "thesis.txt"]
