"""Creating, deleting and annotating are all or nothing too, on a disk that is full."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import tiny
from faults import content, failures, leftovers, recover
from packyard.cli import cfg

KRMFILE = tiny.text("author-faults/Krmfile")
RESOURCE = "kind: A\nmetadata: {name: a}\nx: v\ny: v:1\nz: o!"
COMMANDS = {
    "create-setter": ("create-setter", "new", "v"),
    "create-subst": ("create-subst", "both", "--field-value", "v:1", "--pattern", "${a}:${b}"),
    "delete-subst": ("delete-subst", "whole"),
    "annotate": ("annotate", "--kv", "k=v"),
    "annotate again": ("annotate", "--kv", "k=w"),
    "delete-setter": ("delete-setter", "new"),
}


def make(root: Path) -> Path:
    (root / "sub").mkdir(parents=True)
    (root / "Krmfile").write_text(KRMFILE, "utf-8")
    for name in ("one.yaml", "two.yaml", "sub/three.yaml"):
        (root / name).write_text(f'{RESOURCE} # {{"$openapi":"whole"}}\n', "utf-8")
    return root


def run(root: Path, command: str) -> int:
    verb, *words = COMMANDS[command]
    return cfg.main([verb, str(root), *words])


@pytest.fixture
def states(tmp_path: Path) -> list[dict[str, bytes]]:
    """What the package holds before the first command, and after each."""
    root = make(tmp_path / "states")
    found = [content(root)]
    for command in COMMANDS:
        assert run(root, command) == 0
        found.append(content(root))
    assert all(one != other for one, other in pairwise(found))
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("command", COMMANDS)
def test_a_disk_that_is_full_at_any_moment_leaves_old_files_or_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, states: list[dict[str, bytes]], command: str
) -> None:
    number = list(COMMANDS).index(command)
    before, after = states[number : number + 2]
    start = make(tmp_path / "start")
    for path, data in before.items():
        (start / path).write_bytes(data)
    outcomes = []

    def command_on_a_full_disk(at: int) -> None:
        run(Path(shutil.copytree(start, tmp_path / str(at))), command)

    for at in failures(monkeypatch, command_on_a_full_disk):
        root = tmp_path / str(at)
        recover(root)
        assert content(root) in (before, after), at
        outcomes.append(content(root) == after)
        run(root, command)  # says so where it is done already
        assert content(root) == after
        assert not leftovers(root)
    assert set(outcomes) == {False, True}
    assert content(max(tmp_path.glob("[0-9]*"), key=lambda folder: int(folder.name))) == after
