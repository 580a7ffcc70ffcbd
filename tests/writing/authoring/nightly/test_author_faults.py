"""Creating, deleting and annotating are all or nothing too: on a disk that is full, killed at work, two at once."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import tiny
from faults import KILLS, at_once, content, failures, kills, leftovers, recover
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


LOOP = f"""
import os, sys
from pathlib import Path
from packyard.cli import cfg
out, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")
def run(root):
    for verb, *words in {list(COMMANDS.values())}:
        cfg.main([verb, root, *words])
run(sys.argv[1] + "-before")  # everything is imported
print("ready", file=out, flush=True)
while True:
    run(sys.argv[1])
"""


@pytest.mark.nightly
def test_a_kill_at_a_random_moment_leaves_what_was_there_before_a_command_or_after_it(
    tmp_path: Path, states: list[dict[str, bytes]]
) -> None:
    for command in COMMANDS:  # a second round, in which some are refused; a third is as the second
        run(tmp_path / "states", command)
        states.append(content(tmp_path / "states"))
    root = make(tmp_path / "package")
    make(tmp_path / "package-before")
    reached = set()
    for kill in kills(LOOP, root, count=KILLS // 2):
        recover(root)
        assert content(root) in states, kill
        reached.add(states.index(content(root)))
        for command in COMMANDS:  # among them are two that write every file
            run(root, command)
        assert content(root) in states, kill
        assert not leftovers(root), kill
        shutil.rmtree(root)
        make(root)
    assert len(reached) > 1


CREATE = """
import sys
from packyard.cli import cfg
root, kind = sys.argv[1:]
for number in range(10):
    name = f"{kind}{number}"
    if kind == "k":
        commands = [("annotate", "--kv", f"{name}=v")]
    elif kind == "t":
        commands = [("create-subst", name, "--field-value", "t:t", "--pattern", "${a}:${b}"), ("delete-subst", name)]
    else:
        commands = [("create-setter", name, name)]
    for verb, *words in commands:
        assert cfg.main([verb, root, *words]) == 0
"""


@pytest.mark.nightly
def test_commands_at_the_same_time_lose_no_edit(tmp_path: Path) -> None:
    root = make(tmp_path / "package")
    fields = [f"{kind}{number}" for kind in "ab" for number in range(10)]
    (root / "r.yaml").write_text("kind: A\nt: t:t\n" + "".join(f"{name}: {name}\n" for name in fields), "utf-8")
    at_once(CREATE, *((str(root), kind) for kind in "abkt"))
    text = (root / "r.yaml").read_text("utf-8")
    created = "".join(f'{name}: {name} # {{"$openapi":"{name}"}}\n' for name in fields)
    annotated = "".join(f"    k{number}: 'v'\n" for number in range(10))
    assert text == f"kind: A\nt: t:t\n{created}metadata:\n  annotations:\n{annotated}"
    krmfile = (root / "Krmfile").read_text("utf-8")
    assert [krmfile.count(f"name: {name}\n") for name in fields] == [1] * 20
    assert "substitutions.t" not in krmfile
