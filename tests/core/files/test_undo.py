"""The step log that undo reads: of one package, after a change that was refused or killed, and damaged."""

import json
import os
from pathlib import Path

import pytest

from core.files.krmfiles import field_values, make_package
from faults import Faulty, forked, recover
from packyard.core.errors import InputError, UnavailableError
from packyard.core.files import steps, undo
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.setting import set_values
from reading import files


def set_value(log: StepLog, root: Path, value: str) -> None:
    set_values(root, {"V": [value]}, log=log._replace(title=f"V={value}"))


def replaced(_path: str, _then: bytes | None, _now: bytes | None, back: bytes | None) -> bytes | None:
    return back


def undone(log: StepLog, root: Path) -> str:
    """Undo a step, and return its title."""
    history = undo.History(log, Tree(root), [root], replaced)
    step = next(history.shown(), None) or history.hindered()
    history.take_back(step)
    return step.title


def test_the_history_keeps_the_newest_hundred_or_so_many_bytes_and_nothing_of_it_lies_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, root = StepLog(tmp_path / "steps"), make_package(tmp_path / "package")
    names = files(root).keys()
    for number in range(105):
        set_value(log, root, f"v{number}")
    assert len(list((tmp_path / "steps").iterdir())) == 100
    assert files(root).keys() == names
    assert (tmp_path / "steps").stat().st_mode & 0o777 == 0o700
    for most, left in ((3 * max(file.stat().st_size for file in log.folder.iterdir()), 3), (1, 1)):
        monkeypatch.setattr(steps, "KEPT_BYTES", most)
        set_value(log, root, f"w{left}")
        assert len(list(log.folder.iterdir())) == left


def test_a_set_that_was_refused_leaves_nothing_that_would_block_the_undo_of_the_one_before(tmp_path: Path) -> None:
    log, root = StepLog(tmp_path / "steps"), make_package(tmp_path / "package")
    set_value(log, root, "b")
    (tmp_path / "out.yaml").write_text("x: a\n", "utf-8")
    (root / "out.yaml").symlink_to(tmp_path / "out.yaml")
    with pytest.raises(InputError):
        set_value(log, root, "c")
    (root / "out.yaml").unlink()
    (root / "other.txt").hardlink_to(root / "one.yaml")
    assert [file.name[:8] + file.suffix for file in (tmp_path / "steps").iterdir()] == ["00000001.done"]
    assert undone(log, root) == "V=b"


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_set_that_was_killed_counts_if_it_was_finished(at: int, tmp_path: Path) -> None:
    log, root = StepLog(tmp_path / "steps"), make_package(tmp_path / "package")
    set_value(log, root, "b")
    assert forked(lambda: set_value(log, root, "c"), Faulty(at, None, names=("rename",))).code == -9
    recover(root, log)
    titles = ["V=c", "V=b"] if at > 1 else ["V=b"]
    (root / "more.yaml").write_text("mine", "utf-8")
    assert [undone(log, root) for _ in titles] == titles
    assert field_values(root) == {"a"}


ENTRY = {"root": "/R", "title": "t", "ends": "done", "instead": "", "files": {"r.yaml": [1, 1]}}
ODD = [
    *("", "null", "{}", "[]", "[" * 100_000),
    *(json.dumps({**ENTRY, "files": {"x": odd}}) + "\nxy" for odd in (None, ["a", "b"], [1, 2])),
]


@pytest.mark.parametrize("text", ODD)
def test_an_entry_that_nobody_can_read_is_passed_over_with_a_word(text: str, tmp_path: Path) -> None:
    told: list[str] = []
    log, root = StepLog(tmp_path / "steps", tell=told.append), make_package(tmp_path / "package")
    set_value(log, root, "b")
    (tmp_path / "steps/00000009-x.done").write_text(text, "utf-8")
    os.mkfifo(tmp_path / "steps/00000010-x.done")
    assert undone(log, root) == "V=b"
    assert [line.rpartition("/")[2] for line in told] == [
        f"{number}-x.done: is not an entry of packyard's history; ignored" for number in ("00000010", "00000009")
    ]


def test_a_history_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    with pytest.raises(UnavailableError, match="Krmfile/steps: Not a directory"):
        undone(StepLog(root / "Krmfile/steps"), root)
