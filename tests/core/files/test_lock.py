"""One writer at a time: writers of a folder, of those above and of those below wait for each other."""

import errno
import fcntl
import os
import stat
import subprocess
from pathlib import Path

import pytest

from core.files.krmfiles import field_values, make_package, one_setter, set_to
from packyard.core.errors import UnavailableError
from packyard.core.files import exclusive
from packyard.core.files.steps import OPEN, StepLog
from packyard.core.files.tree import Tree
from tiny import COMMAND, environment


def test_a_file_system_without_locks_is_refused_by_the_folders_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(
        UnavailableError, match="package: cannot be locked for one writer at a time: No locks available"
    ):
        set_to(root, "b")
    assert field_values(root) == {"a"}


def test_a_folder_that_another_command_has_is_waited_for_with_a_word_and_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    monkeypatch.setattr(exclusive, "_SILENCE", 0.1)
    handle = os.open(root, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    told, tree = list[str](), Tree(root)
    before = tree.read("one.yaml")

    def tell(text: str) -> None:
        told.append(text)
        (root / "one.yaml").write_bytes(before + b"# new\n")
        os.close(handle)

    with tree.locked(StepLog(tmp_path / "steps", tell=tell)):
        assert told == [f"{root}: another command is changing this folder; waiting until it ends"]
        assert tree.read("one.yaml") == before + b"# new\n"


def test_a_step_is_on_the_disk_and_locked_before_a_file_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, log = make_package(tmp_path / "package"), StepLog.of_user()
    calls, fsync, rename = list[str](), os.fsync, os.rename

    def flush(handle: int) -> None:
        calls.append("flush folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "flush file")
        fsync(handle)

    def move(old: str, new: str) -> None:
        calls.append(f"name {'step' if Path(new).parent == log.folder else 'file'}")
        if calls[-1] == "name file":
            (step,) = log.steps(OPEN)
            with step.file.open() as stream, pytest.raises(BlockingIOError):
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rename(old, new)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "rename", move)
    set_to(root, "b")
    assert calls[:3] == ["flush file", "name step", "flush folder"]
    assert calls.index("name file") > 2


@pytest.mark.nightly
def test_commands_on_a_folder_and_on_folders_below_it_wait_for_each_other(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "sub/Krmfile").write_text(one_setter(value="a"), "utf-8")
    commands = [[*COMMAND, "set", str(folder), "V=b"] for folder in (root, root / "sub", tmp_path)]
    commands[-1].append("-R")
    with Tree(root).locked():
        waiting = [subprocess.Popen(command, env=environment()) for command in commands]
        for process in waiting:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
        assert field_values(root) == {"a"}
    assert [process.wait() for process in waiting] == [0, 0, 0]
    assert field_values(root) == {"b"}
