"""Replacing files that are no plain ones, and files that somebody changes meanwhile; all or nothing of that too."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import resource
import shlex
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from faults import Faulty, content, forked, leftovers
from krmfiles import FIELD, FILES, field_values, make_package, one_setter
from packyard.errors import ConflictError, UnavailableError
from packyard.files import atomic, inplace, replace
from packyard.files.tree import Tree
from packyard.setters.change import change_setters
from running import COMMAND, environment, packyard


def interrupt(root: Path, *, at: int = 3) -> None:
    """Let a set die at one of its renames: the first is that of the journal."""
    outcome = forked(lambda: set_to(root, "b"), Faulty(at, None, names=("rename",)))
    assert outcome.code == -9


def set_to(root: Path, value: str) -> None:
    change_setters(root, {"V": [value]})


def edit(file: Path) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write("mine: by hand\n")


@pytest.mark.parametrize("at", range(2, 6))
@pytest.mark.parametrize("name", ["Krmfile", *FILES])
def test_an_edit_that_was_made_after_a_crash_stops_the_next_command_which_says_both_ways_out(
    name: str, at: int, tmp_path: Path
) -> None:
    root = make_package(tmp_path / "it's a package")
    interrupt(root, at=at)
    edit(root / name)
    looks = content(root)
    refused = packyard("set", root, "V=c")
    assert (refused.returncode, content(root)) == (1, looks)
    assert f"{root / name}: was changed after an interrupted command" in refused.stderr
    way = ("--finish", "--take-back")[at % 2]
    command = re.search(rf"packyard (undo {way} .*?)(; |\)\n)", refused.stderr)
    assert command
    done = packyard(*shlex.split(command[1]))
    assert done.returncode == 0, done.stderr
    assert f"{name}: was changed since, and is left as it is" in done.stderr
    assert content(root)[name] == looks[name]
    others = {path: data for path, data in content(root).items() if path not in (name, "Krmfile")}
    assert {data.split()[1] for data in others.values()} == {b"b" if way == "--finish" else b"a"}
    assert not leftovers(root)
    set_to(root, "c")
    assert b"by hand" in content(root)[name]
    assert field_values(root) == {"c"}


def test_what_was_interrupted_is_finished_or_taken_back_when_asked_for(tmp_path: Path) -> None:
    for way, value in (("--finish", "b"), ("--take-back", "a")):
        root = make_package(tmp_path / way.strip("-"))
        interrupt(root)
        done = packyard("undo", way, root)
        assert (done.returncode, field_values(root)) == (0, {value}), done.stderr
        assert not leftovers(root)
        again = packyard("undo", way, root)
        assert (again.returncode, again.stdout) == (1, "")
        assert "has no interrupted change" in again.stderr


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
    change_setters(root / "sub", {"W": ["z"]})
    assert field_values(root) == {"b"}
    assert not leftovers(root)


def test_new_files_that_vanished_after_a_crash_stop_the_next_command(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    interrupt(root)
    for file in leftovers(root):
        if "new" in file.name:
            file.unlink()
    with pytest.raises(ConflictError, match="the new ones of an interrupted command are gone"):
        set_to(root, "c")
    Tree(root).settle(back=True)
    assert field_values(root) == {"a"}
    assert not leftovers(root)


@pytest.mark.parametrize("sizes", [(5000, 5000), (5000, 9000), (9000, 5000), (10, 5000), (5000, 0)])
def test_a_file_that_was_written_in_part_is_known_from_one_that_was_edited(sizes: tuple[int, int]) -> None:
    old, new = b"o" * sizes[0], b"n" * sizes[1]
    room = max(sizes)
    for done in range(0, len(new) + 1, 512):
        torn = new[:done] + old.ljust(room, b"\0")[done:]
        assert inplace.is_torn(torn, old, new)
        assert not inplace.is_torn(torn + b"mine", old, new)
        assert not inplace.is_torn(b"M" + torn[1:], old, new)
    assert not inplace.is_torn(old[:-1], old, new)


def at_call(monkeypatch: pytest.MonkeyPatch, holder: object, name: str, act: Callable[[], object]) -> None:
    """Do something right before the first call of a function."""
    real = getattr(holder, name)
    waiting = [act]

    def call(*args: object, **kwargs: object) -> object:
        if waiting:
            waiting.pop()()
        return real(*args, **kwargs)

    monkeypatch.setattr(holder, name, call)


@pytest.mark.parametrize("many", [32, 1])
def test_an_edit_that_is_made_while_new_files_go_to_the_disk_takes_the_whole_change_back(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    old = content(root)
    monkeypatch.setattr(atomic, "MANY", many)
    at_call(monkeypatch, atomic, "flush_all", lambda: edit(root / "two.yaml"))
    with pytest.raises(ConflictError, match=r"two\.yaml: was changed by somebody else meanwhile; nothing was written"):
        set_to(root, "b")
    assert content(root) == {**old, "two.yaml": old["two.yaml"] + b"mine: by hand\n"}
    assert not leftovers(root)


def test_a_file_that_appears_where_one_is_to_be_made_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    at_call(monkeypatch, replace, "_carry_out", lambda: (root / "new.yaml").write_text("mine", "utf-8"))
    tree = Tree(root)
    tree.read("one.yaml")
    with pytest.raises(ConflictError, match=r"new\.yaml: was changed by somebody else"):
        tree.write({"one.yaml": b"b", "new.yaml": b"c"})
    assert ((root / "new.yaml").read_text("utf-8"), (root / "one.yaml").read_text("utf-8")) == ("mine", FIELD)
    assert not leftovers(root)


def test_attributes_mode_and_further_names_of_a_file_stay(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "one.yaml").chmod(0o640)
    (root / "other-name.txt").hardlink_to(root / "two.yaml")
    try:
        os.setxattr(root / "one.yaml", "user.note", b"x")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    set_to(root, "b")
    assert os.getxattr(root / "one.yaml", "user.note") == b"x"
    assert (root / "one.yaml").stat().st_mode & 0o777 == 0o640
    assert (root / "other-name.txt").samefile(root / "two.yaml")
    assert field_values(root) == {"b"}


def test_an_access_list_of_a_file_stays_and_that_of_its_folder_does_not_come(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")

    def acl(*entries: tuple[int, int, int]) -> bytes:
        return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)

    nobody = 0xFFFFFFFF
    mine = acl((1, 6, nobody), (2, 4, 4321), (4, 4, nobody), (16, 4, nobody), (32, 0, nobody))
    try:
        os.setxattr(root / "one.yaml", "system.posix_acl_access", mine)
        os.setxattr(root / "sub", "system.posix_acl_default", mine)
    except OSError:
        pytest.skip("this file system has no access lists")
    set_to(root, "b")
    assert os.getxattr(root / "one.yaml", "system.posix_acl_access") == mine
    assert os.listxattr(root / "sub/three.yaml") == []
    assert (root / "sub/three.yaml").stat().st_mode & 0o777 == 0o644


def test_two_names_of_one_file_in_a_package_are_both_set(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "sub/three.yaml").unlink()
    (root / "sub/three.yaml").hardlink_to(root / "one.yaml")
    set_to(root, "b")
    assert field_values(root) == {"b"}
    assert (root / "sub/three.yaml").samefile(root / "one.yaml")


@pytest.mark.parametrize("attribute", ["a", "i"])
def test_a_file_that_can_only_grow_or_not_change_is_refused_by_name(attribute: str, tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    old = content(root)
    file = root / "two.yaml"
    if subprocess.run(["chattr", f"+{attribute}", file], capture_output=True, check=False).returncode:
        pytest.skip("needs root, and a file system with such attributes")
    try:
        with pytest.raises(UnavailableError, match=r"two\.yaml: Operation not permitted; nothing was changed"):
            set_to(root, "b")
        assert content(root) == old
        assert not leftovers(root)
    finally:
        subprocess.run(["chattr", f"-{attribute}", file], check=True)


FULL = """
set -e
mkdir disk && mount -t tmpfs -o size=256k tmpfs disk
cp -r package disk/package
head -c 60000 /dev/zero | tr '\\0' x | sed 's/^/# /' >> disk/package/one.yaml
ln disk/package/one.yaml disk/other
cp disk/package/one.yaml old
"$@" && echo done >&2
ls -A disk/package
cmp disk/package/one.yaml old || wc -c < disk/package/one.yaml
"""


def test_a_disk_that_is_full_leaves_a_file_with_two_names_whole(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces")
    make_package(tmp_path / "package")
    code = "from packyard.cli.main import main; main(['set', 'disk/package', 'V=' + 'y' * 60000])"
    process = subprocess.run(
        ["unshare", "-rm", "bash", "-c", FULL, "bash", "env", *(sys.executable, "-c", code)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No space left on device; nothing was changed" in process.stderr
    assert process.stdout.split() in (["Krmfile", "one.yaml", "sub", "two.yaml"], []), process.stdout + process.stderr


def test_a_package_of_more_folders_than_descriptors_is_set(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"p{number}").mkdir()
        (tmp_path / f"p{number}/Krmfile").write_text(one_setter(value="a"), "utf-8")
        (tmp_path / f"p{number}/r.yaml").write_text(FIELD, "utf-8")

    def with_few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        change_setters(tmp_path, {"V": ["b"]}, recursive=True)

    outcome = forked(with_few)
    assert outcome.code == 0, outcome
    assert {file.read_text("utf-8").split()[1] for file in tmp_path.rglob("r.yaml")} == {"b"}


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
