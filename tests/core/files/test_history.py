"""Undo restores the earlier bytes, command by command, and never overwrites a later change."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from faults import Faulty, forked
from packyard.core.errors import ConflictError, InputError, UnavailableError
from packyard.core.files.history import History
from packyard.using.setters.change import change_setters

KRMFILE = one_setter(value="a")


def make(root: Path) -> Path:
    root.mkdir()
    (root / "Krmfile").write_text(KRMFILE, "utf-8")
    (root / "r.yaml").write_text('x: a # {"$openapi":"V"}\n', "utf-8")
    return root


def set_value(history: History, root: Path, value: str) -> None:
    change_setters(root, {"V": [value]}, keep=lambda before, after: history.record(root, f"V={value}", before, after))


def content(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in root.iterdir()}


def test_undo_restores_the_earlier_bytes_and_again_those_before(tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    states = [content(root)]
    for value in ("b", "c", "d"):
        set_value(history, root, value)
        states.append(content(root))
    for state, title in zip(reversed(states[:-1]), ("V=d", "V=c", "V=b"), strict=True):
        assert history.undo(root).title == title
        assert content(root) == state
    with pytest.raises(InputError, match=r"nothing to undo .*`lint --fix`"):
        history.undo(root)


def test_undo_refuses_to_write_over_a_later_change(tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    set_value(history, root, "b")
    (root / "r.yaml").write_text('x: mine # {"$openapi":"V"}\n', "utf-8")
    before = content(root)
    with pytest.raises(ConflictError, match=r"r\.yaml: was changed since"):
        history.undo(root)
    assert content(root) == before


def test_undo_passes_over_a_change_that_was_never_made(tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    set_value(history, root, "b")
    now = content(root)
    history.record(root, "V=c", {root / "r.yaml": now["r.yaml"]}, {root / "r.yaml": b"x: c\n"})
    assert history.undo(root).title == "V=b"


def test_undo_of_one_package_leaves_another_alone(tmp_path: Path) -> None:
    history = History(tmp_path / "history")
    one, other = make(tmp_path / "one"), make(tmp_path / "other")
    set_value(history, one, "b")
    set_value(history, other, "c")
    history.undo(one)
    assert b"x: a " in content(one)["r.yaml"]
    assert b"x: c " in content(other)["r.yaml"]


def test_the_history_keeps_the_newest_hundred_and_nothing_of_it_lies_in_the_package(tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    for number in range(105):
        set_value(history, root, f"v{number}")
    assert len(list((tmp_path / "history").iterdir())) == 100
    assert sorted(content(root)) == ["Krmfile", "r.yaml"]
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o700


def test_a_set_that_was_refused_leaves_nothing_that_would_block_the_undo_of_the_one_before(tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    set_value(history, root, "b")
    (tmp_path / "out.yaml").write_text("x: a\n", "utf-8")
    (root / "out.yaml").symlink_to(tmp_path / "out.yaml")
    with pytest.raises(InputError):
        set_value(history, root, "c")
    (root / "out.yaml").unlink()
    (root / "sub").mkdir()
    (root / "other.txt").hardlink_to(root / "r.yaml")
    assert [file.name for file in (tmp_path / "history").iterdir()] == ["00000001.json"]
    assert history.undo(root).title == "V=b"


def test_a_set_that_the_disk_refused_is_not_in_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    set_value(history, root, "b")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UnavailableError):
            set_value(history, root, "c")
    (root / "Krmfile").write_text(KRMFILE.replace("value: a", "value: b\n          isSet: true"), "utf-8")
    assert [file.name for file in (tmp_path / "history").iterdir()] == ["00000001.json"]
    assert history.undo(root).title == "V=b"


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_set_that_was_killed_counts_if_it_was_finished(at: int, tmp_path: Path) -> None:
    history, root = History(tmp_path / "history"), make(tmp_path / "package")
    set_value(history, root, "b")
    assert forked(lambda: set_value(history, root, "c"), Faulty(at, None, names=("rename",))).code == -9
    titles = ["V=c", "V=b"] if at > 1 else ["V=b"]
    (root / "more.yaml").write_text("mine", "utf-8")
    assert [history.undo(root).title for _ in titles] == titles
    assert b"x: a " in content(root)["r.yaml"]


ENTRY = {"root": "/R", "title": "t", "files": {"/R/r.yaml": {"before": "x", "after": "y"}}}
ODD = [
    "",
    "null",
    "{}",
    "[]",
    "[" * 100_000,
    '"\\ud800"',
    json.dumps({**ENTRY, "root": "relative"}),
    json.dumps({**ENTRY, "root": "/a\0b"}),
    json.dumps({**ENTRY, "root": 5}),
    json.dumps({**ENTRY, "title": None}),
    json.dumps({**ENTRY, "files": {"/etc/passwd": {"before": "x", "after": "y"}}}),
    json.dumps({**ENTRY, "files": {"../x": {"before": "x", "after": "y"}}}),
    json.dumps({**ENTRY, "files": {"x": None}}),
    json.dumps({**ENTRY, "files": {"x": {"before": 5, "after": "y"}}}),
    json.dumps({**ENTRY, "files": {"x": {"before": "\ud800", "after": "y"}}}),
    json.dumps({**ENTRY, "files": {"\ud800": {"before": "x", "after": "y"}}}),
]


@pytest.mark.parametrize("text", ODD)
def test_an_entry_that_nobody_can_read_is_passed_over_with_a_word(text: str, tmp_path: Path) -> None:
    told: list[str] = []
    history, root = History(tmp_path / "history", told.append), make(tmp_path / "package")
    set_value(history, root, "b")
    (tmp_path / "history/00000009.json").write_text(text, "utf-8")
    os.mkfifo(tmp_path / "history/00000010.json")
    assert history.undo(root).title == "V=b"
    assert [line.rpartition("/")[2] for line in told] == [
        f"{number}.json: is not an entry of packyard's history; ignored" for number in ("00000010", "00000009")
    ]


def test_a_history_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    root = make(tmp_path / "package")
    with pytest.raises(UnavailableError, match="Krmfile/history: Not a directory"):
        History(root / "Krmfile/history").undo(root)
