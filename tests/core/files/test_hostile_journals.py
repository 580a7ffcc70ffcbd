"""Hostile journals, in a package or from another user, are neither carried out nor waited for."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.files.krmfiles import FIELD, field_values, make_package
from faults import forked
from packyard.core.errors import InputError, PackyardError
from packyard.core.files.journal import DRAFT, JOURNAL
from packyard.core.files.tree import Tree
from packyard.using.setters.change import change_setters
from tiny import packyard

NEW = FIELD.replace(": a", ": b").encode()
STAGED = ".packyard-new-0123456789abcdef-0"
FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))


def everything(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return what is below a folder, links and modes too."""
    return {str(path.relative_to(folder)): (path.lstat().st_mode, _what(path)) for path in folder.rglob("*")}


def _what(path: Path) -> bytes | str:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else b""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def journal(*items: dict[str, Any], old: bytes = FIELD.encode(), **head: Any) -> bytes:
    """Write a journal as packyard does; ``items`` and ``head`` say what is otherwise."""
    lines: list[dict[str, Any]] = [{"form": "packyard journal 1", "owner": os.geteuid(), "files": len(items), **head}]
    good = {"path": "one.yaml", "old": digest(old), "new": digest(NEW), "size": len(old), "staged": STAGED}
    return b"".join(json.dumps(line).encode() + b"\n" for line in (*lines, *({**good, **item} for item in items))) + old


#: What no command obeys; each is written beside a staged file with the new bytes.
REFUSED = {
    "nothing": b"",
    "text": b"x",
    "a number": b"5\n",
    "null": b"null\n",
    "a list": b'["one.yaml"]\n',
    "an old one": b'[{"remove": "../victim"}]\n',
    "very deep": b"[" * 100_000,
    "a long line": b'{"form": "' + b"x" * 1_000_000 + b'"}\n',
    "another form": journal({}, form="packyard journal 2"),
    "no files": journal(),
    "too few files": journal({}, files=2),
    "many files": journal({}, files=10**15),
    "somebody's": journal({}, owner=os.geteuid() + 1),
    "above": journal({"path": "../victim"}),
    "above, in a folder": journal({"path": "sub/../../victim"}),
    "absolute": journal({"path": "/tmp/victim"}),
    "by a link": journal({"path": "outside/victim"}),
    "the folder": journal({"path": "."}),
    "no path": journal({"path": ""}),
    "a NUL": journal({"path": "a\0b"}),
    "a surrogate": journal({"path": "\ud800"}),
    "twice": journal({}, {}, old=b""),
    "staged above": journal({"staged": "../victim"}),
    "staged elsewhere": journal({"staged": "two.yaml"}),
    "no digest": journal({"new": "x"}),
    "nothing new": journal({"new": digest(FIELD.encode())}),
    "a size below zero": journal({"size": -1}),
    "a large size": journal({"size": 10**12}),
    "a cut end": journal({})[:-1],
    "a longer end": journal({}) + b"x",
}


def make(tmp_path: Path, data: bytes = b"", name: str = JOURNAL) -> Path:
    root = make_package(tmp_path / "work" / "package")
    (tmp_path / "victim").write_text("mine", "utf-8")
    (tmp_path / "work/victim").write_text("mine", "utf-8")
    (root / "outside").symlink_to(tmp_path)
    (root / "two.yaml").write_text(FIELD, "utf-8")
    (root / STAGED).write_bytes(NEW)
    (root / name).write_bytes(data)
    return root


@pytest.mark.parametrize("what", REFUSED)
def test_a_journal_that_is_not_as_packyard_writes_one_stops_the_command_and_changes_nothing(
    what: str, tmp_path: Path
) -> None:
    root = make(tmp_path, REFUSED[what])
    before = everything(tmp_path)
    with pytest.raises(
        InputError, match=r"\.packyard-journal: this journal of an interrupted change cannot be used: .*remove it: rm /"
    ):
        change_setters(root, {"V": ["c"]})
    for back in (False, True):
        with pytest.raises(InputError, match="this journal of an interrupted change cannot be used"):
            Tree(root).settle(back=back)
    change_setters(root, {"V": ["c"]}, dry_run=True)
    assert everything(tmp_path) == before


def a_pipe(file: Path) -> None:
    os.mkfifo(file)


def a_folder(file: Path) -> None:
    file.mkdir()


def a_link(file: Path) -> None:
    file.symlink_to("Krmfile")


def a_link_that_leads_nowhere(file: Path) -> None:
    file.symlink_to("nowhere")


@pytest.mark.parametrize("name", [JOURNAL, DRAFT])
@pytest.mark.parametrize("put", [a_pipe, a_folder, a_link, a_link_that_leads_nowhere])
def test_what_is_no_file_is_not_waited_for(put: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / JOURNAL).unlink()
    put(root / name)
    before = everything(tmp_path)
    with pytest.raises(
        InputError, match=f"{name}: this journal of an interrupted change cannot be used: .*it is not a regular file"
    ):
        change_setters(root, {"V": ["c"]})
    assert everything(tmp_path) == before


@pytest.mark.nightly  # only root can give a file away
def test_a_journal_of_another_user_is_not_obeyed(tmp_path: Path) -> None:
    root = make(tmp_path, journal({}))
    os.chown(root / JOURNAL, 12345, 12345)
    with pytest.raises(InputError, match="it belongs to the user 12345"):
        change_setters(root, {"V": ["c"]})
    assert field_values(root) == {"a"}


def test_a_journal_above_in_a_folder_that_all_may_write_is_passed_over(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / JOURNAL).unlink()
    (tmp_path / "work" / JOURNAL).write_bytes(journal({"path": "../victim"}))
    before = everything(tmp_path)
    with pytest.raises(InputError, match=r"work/\.packyard-journal: this journal of an interrupted change cannot"):
        change_setters(root, {"V": ["c"]})
    assert everything(tmp_path) == before
    (tmp_path / "work").chmod(0o777)
    change_setters(root, {"V": ["c"]})
    assert field_values(root) == {"c"}


def test_a_name_that_packyard_once_staged_files_under_is_not_followed(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (tmp_path / "victim").write_text("mine", "utf-8")
    for name in ("one.yaml", "Krmfile", ".packyard-journal"):
        (root / f".{name}.packyard-new").symlink_to("../victim")
    change_setters(root, {"V": ["c"]})
    assert (field_values(root), (tmp_path / "victim").read_text("utf-8")) == ({"c"}, "mine")
    assert not (root / "one.yaml").is_symlink()


READERS = {
    "render": ("render",),
    "setters": ("setters", "package"),
    "explain": ("explain", "package", "V"),
    "lint": ("lint", "package"),
    "list-setters": ("cfg", "list-setters", "package"),
    "set --dry-run": ("set", "package", "V=c", "--dry-run"),
    "undo --dry-run": ("undo", "package", "--dry-run"),
    "enable": ("enable", "package"),
}


@pytest.mark.parametrize("verb", READERS)
def test_who_only_reads_says_that_a_change_is_pending_and_changes_nothing(verb: str, tmp_path: Path) -> None:
    root = make(tmp_path, journal({}))
    (root / "outside").unlink()
    (root / "kustomization.yaml").write_text("resources: []\n", "utf-8")
    before = everything(tmp_path)
    words = [word if word != "package" else root for word in READERS[verb]]
    told = packyard(*words, cwd=root).stderr
    assert "an interrupted change is pending" in told
    assert f"packyard undo --finish {root}" in told
    assert "Traceback" not in told
    assert everything(tmp_path) == before


@pytest.mark.nightly
def test_journals_that_are_made_up_harm_nobody(tmp_path: Path) -> None:
    """Bytes of a journal are swapped for others: who comes finishes it, or refuses, and nothing outside changes."""
    dice = random.Random(FUZZ)
    outcomes = set()
    for number in range(max(FUZZ // 50, 60)):
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        root = make(tmp_path)
        odd: dict[str, Any] = {
            "path": dice.choice(["one.yaml", "two.yaml", "../victim", "outside/victim", "sub", "Krmfile", "nowhere"]),
            "old": dice.choice([None, digest(FIELD.encode()), digest(NEW), digest(b"mine"), 5]),
            "new": dice.choice([None, digest(NEW), digest(FIELD.encode()), []]),
            "size": dice.choice([0, 1, len(FIELD), True, None]),
            "staged": dice.choice([STAGED, "../victim", STAGED + "9", None]),
        }
        for key in dice.sample(sorted(odd), dice.randint(0, 5)):  # with none of them it is sound
            del odd[key]
        data = bytearray(journal(odd))
        for _ in range(dice.choice([0, 0, 1, 5])):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (root / dice.choice([JOURNAL, JOURNAL, DRAFT])).write_bytes(data)
        outcome = forked(lambda root=root: change_setters(root, {"V": ["c"]}))
        assert outcome.code in (0, 1), f"{number}: {bytes(data)!r}: {outcome}"
        assert (tmp_path / "victim").read_text("utf-8") == "mine", bytes(data)
        assert (tmp_path / "work/victim").read_text("utf-8") == "mine", bytes(data)
        outcomes.add(outcome.code)
    assert outcomes == {0, 1}


@pytest.mark.nightly
def test_a_journal_of_many_thousand_files_is_read_in_no_more_than_linear_time(tmp_path: Path) -> None:
    root = make(tmp_path)
    items = [{"path": f"f{number}", "old": None, "size": 0, "staged": f"{STAGED}{number}"} for number in range(20_000)]
    (root / JOURNAL).write_bytes(journal(*items, old=b""))
    with pytest.raises(PackyardError, match="are gone; nothing was done"):
        change_setters(root, {"V": ["c"]})
