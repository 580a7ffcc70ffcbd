"""After a crash the next command finishes the change, but for files that were edited, which it names."""

import os
import re
import shlex
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from core.files.krmfiles import FIELD, FILES, edit, field_values, make_package, one_setter, set_to
from faults import Faulty, content, forked, leftovers, recover
from packyard.cli import state
from packyard.core.files.replace import settle
from packyard.core.files.steps import OPEN, StepLog
from packyard.using.setting import set_values
from reading import files
from tiny import packyard


def interrupt(root: Path, *, at: int = 3) -> None:
    """Let a set die at one of its renames: the first is that of the journal."""
    outcome = forked(lambda: set_to(root, "b"), Faulty(at, None, names=("rename",)))
    assert outcome.code == -9


@pytest.mark.parametrize(("at", "name"), list(enumerate(["Krmfile", *FILES], 2)))
def test_an_edit_that_was_made_after_a_crash_stays_while_the_next_command_finishes_the_rest_and_says_so(
    name: str, at: int, tmp_path: Path
) -> None:
    root = make_package(tmp_path / "it's a package")
    interrupt(root, at=at)
    edit(root / name)
    looks = content(root)
    told = packyard("explain", root, "V")
    assert f"packyard undo {shlex.quote(str(root))} takes it back" in told.stderr
    assert content(root) == looks
    done = packyard("undo", root)
    assert (done.returncode, "nothing to undo" in done.stderr) == (1, True)  # it had no title
    told = f"{root}: a change was interrupted, and is finished now\n{root / name}: was edited after that, and is left"
    assert told in done.stderr
    assert content(root)[name] == looks[name]
    others = {path: data for path, data in content(root).items() if path not in (name, "Krmfile")}
    assert {data.split()[1] for data in others.values()} == {b"b"}
    assert not leftovers(root)
    set_to(root, "c")
    assert b"by hand" in content(root)[name]
    assert field_values(root) == {"c"}


def test_a_change_whose_writer_ends_while_it_is_waited_for_is_not_finished_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    interrupt(root)
    (step,) = StepLog.of_user().steps(OPEN)
    before = content(root)
    monkeypatch.setattr("fcntl.flock", lambda *_: step.end())
    settle(step, tell=pytest.fail)
    assert content(root) == before


def test_what_was_interrupted_is_taken_back_by_undo_but_for_an_edit_by_hand(tmp_path: Path) -> None:
    root, log = make_package(tmp_path / "package"), state.log("V=b")
    (root / "one.yaml").write_text(FIELD + "# text\n# text\n", "utf-8")
    before = content(root)
    killed = forked(lambda: set_values(root, {"V": ["b"]}, log=log), Faulty(3, None, names=("rename",)))
    assert killed.code == -9
    edit(root / "one.yaml")
    undone = packyard("undo", root)
    assert (undone.returncode, "undone: V=b" in undone.stdout) == (0, True), undone.stderr
    assert content(root) == {**before, "one.yaml": before["one.yaml"] + b"mine: by hand\n"}


def test_a_change_in_a_folder_below_is_finished_by_a_command_on_a_folder_above(tmp_path: Path) -> None:
    root = make_package(tmp_path / "top" / "package")
    (tmp_path / "top/Krmfile").write_text(one_setter(value="a"), "utf-8")
    (tmp_path / "top/r.yaml").write_text(FIELD, "utf-8")
    interrupt(root)
    set_to(tmp_path / "top", "z")
    assert field_values(root) == {"b"}
    assert not leftovers(tmp_path)


def test_a_change_of_a_folder_above_is_finished_by_a_command_on_a_folder_below(tmp_path: Path) -> None:
    root = make_package(tmp_path / "top")
    (root / "sub/Krmfile").write_text(one_setter("W", value="a"), "utf-8")
    (root / "sub/w.yaml").write_text(FIELD.replace("V", "W"), "utf-8")
    (root / "sub/three.yaml").write_text(FIELD.replace(" a ", " b "), "utf-8")
    interrupt(root, at=2)
    set_values(root / "sub", {"W": ["z"]})
    assert field_values(root) == {"b"}
    assert not leftovers(root)


def test_a_folder_that_became_a_link_after_a_crash_is_not_followed(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    interrupt(root, at=2)
    (root / "sub").rename(tmp_path / "elsewhere")
    (root / "sub").symlink_to(tmp_path / "elsewhere")
    told: list[str] = []
    recover(root, StepLog.of_user()._replace(tell=told.append))
    assert [line.partition(": ")[0] for line in told] == [str(root), f"{root}/sub/three.yaml"]
    assert (tmp_path / "elsewhere/three.yaml").read_text("utf-8") == FIELD


def test_a_command_that_dies_while_it_recovers_leaves_nothing_that_the_next_one_does_not_find(tmp_path: Path) -> None:
    for dies_at in count(1):
        root = make_package(tmp_path / str(dies_at))
        for name in FILES:  # a file of two names is written through, so that its staged file stays to the end
            (tmp_path / f"{dies_at}-{name.replace('/', '-')}").hardlink_to(root / name)
        interrupt(root, at=2)
        outcome = forked(lambda root=root: recover(root), Faulty(dies_at, None, names=("rename", "unlink")))
        set_to(root, "c")
        assert field_values(root) == {"c"}, dies_at
        assert not leftovers(root), dies_at
        if outcome.code != -9:
            break
    assert dies_at > 2


READERS = {
    "render": ("render",),
    "setters": ("setters", "package"),
    "lint": ("lint", "package"),
    "set --dry-run": ("set", "package", "V=c", "--dry-run"),
    "enable": ("enable", "package"),
}


@pytest.mark.parametrize("verb", READERS)
def test_who_only_reads_says_that_a_change_is_pending_and_changes_nothing(verb: str, tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "kustomization.yaml").write_text("resources: []\n", "utf-8")
    interrupt(root)
    before = files(tmp_path)
    words = [word if word != "package" else root for word in READERS[verb]]
    told = packyard(*words, cwd=root).stderr
    assert "a change of these files was not finished by" in told
    assert f"packyard undo {root} takes it back" in told
    assert "Traceback" not in told
    assert files(tmp_path) == before


def test_who_cannot_see_the_step_is_told_whose_change_is_open_and_goes_on(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    interrupt(root)
    for command in (("setters", root), ("set", root, "V=c")):
        told = packyard(*command, XDG_STATE_HOME=str(tmp_path / "others"))
        assert (told.returncode, "Traceback" in told.stderr) == (0, False), told.stderr
        assert re.search(r"\.packyard-open: a change of these files was not finished by '.* on .*, step /", told.stderr)
    assert field_values(root) == {"c"}


@pytest.mark.parametrize("text", [b"", b"\0\x1b[2J" * 99, b"x" * 100_000, b"\xff"])
def test_a_notice_that_a_package_brings_is_shown_in_one_clean_line_and_never_obeyed(
    text: bytes, tmp_path: Path
) -> None:
    root = make_package(tmp_path / "package")
    (root / ".packyard-open").write_bytes(text)
    told = packyard("set", root, "V=c")
    assert told.returncode == 0, told.stderr
    (line,) = (line for line in told.stderr.splitlines() if "was not finished" in line)
    assert line.isprintable()
    assert len(line) < 3000
    assert (field_values(root), (root / ".packyard-open").read_bytes()) == ({"c"}, text)


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda file: file.symlink_to("nowhere")])
def test_a_notice_that_is_no_file_is_not_waited_for(put: Callable[[Path], None], tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    put(root / ".packyard-open")
    told = packyard("set", root, "V=c")
    assert (told.returncode, field_values(root)) == (0, {"c"}), told.stderr


def test_without_a_home_a_set_says_what_that_costs(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    told = packyard("set", root, "V=c", HOME="/gone", XDG_STATE_HOME="")
    assert (told.returncode, field_values(root)) == (0, {"c"}), told.stderr
    assert "no history is kept: HOME is '/gone', which is not a folder; `packyard undo` cannot" in told.stderr
