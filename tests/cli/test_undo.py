"""`packyard undo` after every command that changes files, repeatedly, and never over a later change."""

import json
import re
import shutil
from pathlib import Path

import pytest

import reading
import tiny
from tiny import done, packyard, refused
from using.options import optioned

KRMFILE = tiny.text("undo/Krmfile")
RESOURCE = 'a:   a # {"$openapi":"n"}\r\nb: v # why\nc: v:1 # é\n\nd: a-x # {"$openapi":"s"}'
COMMANDS = {
    "set": ("set", ".", "n", "b"),
    "set below": ("set", ".", "n", "b", "-R"),
    "create-setter": ("create-setter", ".", "m", "v"),
    "create-subst": ("create-subst", ".", "t", "--field-value", "v:1", "--pattern", "${i}:${j}"),
    "delete-setter": ("delete-setter", "sub", "n"),
    "delete-subst": ("delete-subst", ".", "s"),
    "init": ("init", "empty"),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "package"
    simple = KRMFILE.split("    io.k8s.cli.substitutions")[0]
    files = {"Krmfile": KRMFILE, "r.yaml": RESOURCE, "sub/Krmfile": simple, "sub/r.yaml": RESOURCE}
    tiny.write_all(root, files)
    (root / "empty").mkdir()
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_undo_restores_the_bytes_before_a_cfg_command_but_of_no_file_that_was_changed_since(
    package: Path, command: str
) -> None:
    before = reading.files(package)
    done("cfg", *COMMANDS[command], cwd=package)
    after = reading.files(package)
    assert after != before
    (undone,) = json.loads(done("undo", "-o", "json", cwd=package))
    changed_paths = sorted(path for path in after if after[path] != before.get(path))
    assert [item["file"] for item in undone["files"]] == changed_paths
    assert reading.files(package) == before
    assert "nothing to undo (what `packyard set`" in packyard("undo", cwd=package).stderr
    done("undo", "--redo", cwd=package)
    changed = next(path for path, data in after.items() if data != before.get(path))
    (package / changed).write_text("mine: 1\n", "utf-8")
    after = reading.files(package)
    assert re.search(rf"{re.escape(changed)}(:\d+)?: was changed since in the same lines", refused("undo", cwd=package))
    assert reading.files(package) == after


def test_a_history_that_cannot_be_kept_stops_no_command_and_prints_nothing_on_stdout(
    package: Path, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("no folder", "utf-8")
    process = packyard("cfg", "set", ".", "n", "b", cwd=package, XDG_STATE_HOME=str(tmp_path / "state"))
    assert process.stdout == './\nset 2 field(s) of setter "n" to value "b"\n'
    assert "`packyard undo` cannot undo this change" in process.stderr
    assert b"a:   b " in reading.files(package)["r.yaml"]


def test_undo_lists_its_steps_and_redo_does_them_again(package: Path) -> None:
    states = [reading.files(package)]
    for words in (("init", "empty"), ("create-setter", "empty", "m", "v"), ("set", "empty", "m", "w")):
        done("cfg", *words, cwd=package)
        states.append(reading.files(package))
    listed = json.loads(done("undo", "--list", "-o", "json", cwd=package))
    assert [(row["step"], row["title"]) for row in listed] == [
        (1, "cfg set m w"),
        (2, "cfg create-setter m"),
        (3, "cfg init"),
    ]
    for title in ("cfg set m w", "cfg create-setter m"):
        assert done("undo", cwd=package).startswith(f"undone: {title} (")
    assert reading.files(package) == states[1]
    for state in states[2:]:
        done("undo", "--redo", cwd=package)
        assert reading.files(package) == state
    assert "nothing to redo" in packyard("undo", "--redo", cwd=package).stderr


def test_what_was_undone_is_not_done_again_after_another_change_or_edit(package: Path) -> None:
    for value in "bc":
        done("set", package, f"n={value}")
        done("undo", package)
    done("undo", package, "--redo")
    assert "nothing to redo" in refused("undo", package, "--redo")
    done("undo", package)
    with (package / "r.yaml").open("a") as file:
        file.write("# mine")
    before = reading.files(package)
    assert "nothing to redo" in refused("undo", package, "--redo")
    assert reading.files(package) == before


def test_an_edit_of_other_lines_stays_when_a_step_is_undone_and_done_again(package: Path) -> None:
    file = package / "r.yaml"
    before = file.read_bytes()
    done("cfg", "set", ".", "n", "b", cwd=package)
    after = file.read_bytes()
    assert after != before
    file.write_bytes(after.replace(b"c: v:1", b"c: mine"))
    done("undo", cwd=package)
    assert file.read_bytes() == before.replace(b"c: v:1", b"c: mine")
    told = packyard("undo", "--list", cwd=package).stderr
    assert told == ".: nothing to undo; packyard undo . --redo does cfg set n b again\n"
    done("undo", "--redo", cwd=package)
    assert file.read_bytes() == after.replace(b"c: v:1", b"c: mine")


def test_an_older_change_than_the_last_is_undone_only_where_somebody_says_so(package: Path) -> None:
    before = reading.files(package)
    done("set", package, "n=b")
    older = reading.files(package)
    done("set", package, "n=c")
    for path, data in older.items():
        (package / path).write_bytes(data)  # as git checkout does
    assert "do not show the last change, n=c; the one before it is n=b" in refused("undo", package)
    assert reading.files(package) == older
    done("undo", package, "--yes")
    assert reading.files(package) == before
    done("cfg", "create-setter", package / "sub", "m", "v")
    done("set", package, "n=c")
    for path, data in reading.files(package).items():
        (package / path).write_bytes(data.replace(b"a:   c ", b"a:   mine ").replace(b"value: c", b"value: mine"))
    assert re.search(r"last change, n=c \(edited since: \S+/Krmfile:\d+, \S+/r.yaml:1\)", refused("undo", package))


def test_of_several_packages_none_is_undone_unasked(tmp_path: Path) -> None:
    for name in ("two", "one"):
        optioned.package(tmp_path / name)
        done("set", tmp_path / name / "tiny-k8s" / optioned.MULTI, "WORKERS=3")
    said = refused("undo", cwd=tmp_path)
    assert "of several packages here one/tiny-k8s was changed last, by WORKERS=3" in said
    before = reading.files(tmp_path / "two")
    done("undo", "--yes", cwd=tmp_path)
    assert reading.files(tmp_path / "two") == before


def test_of_a_change_that_reaches_beyond_the_folder_nothing_is_undone_unasked(tmp_path: Path) -> None:
    package, single = optioned.package(tmp_path), f"tiny-k8s/{optioned.SINGLE}"
    before = reading.files(package)
    done("set", package, "IMAGE=a:1", "-R")
    done("set", f"{package}/{optioned.MULTI}", "IMAGE=a:2")
    says = (
        "the last change, IMAGE=a:1, is one of other files, too, of tiny-k8s/quickstart/mlops (packyard undo tiny-k8s/"
    )
    assert f"{says}single-node --yes undoes it)" in refused("undo", single, cwd=tmp_path)
    says = "was changed since by IMAGE=a:2; nothing was undone (packyard undo tiny-k8s/multi-node undoes that first)"
    assert says in refused("undo", single, "--yes", cwd=tmp_path)
    done("undo", "tiny-k8s/multi-node", cwd=tmp_path)
    done("undo", single, "--yes", cwd=tmp_path)
    assert reading.files(package) == before


def test_of_a_package_that_is_gone_nothing_is_undone(package: Path, tmp_path: Path) -> None:
    done("set", "n=b", cwd=package)
    shutil.rmtree(package)
    says = "error: package: is gone, so n=b cannot be undone (packyard undo DIR"
    assert refused("undo", cwd=tmp_path).startswith(says)


def test_a_folder_that_was_moved_keeps_its_history_and_another_one_in_its_place_does_not_get_it(
    package: Path, tmp_path: Path
) -> None:
    shipped, moved = shutil.copytree(package, tmp_path / "shipped"), tmp_path / "moved"
    for value in ("b", "c"):
        done("set", package, f"n={value}")
    after = reading.files(package)
    package.rename(moved)
    titles = [row["title"] for row in json.loads(done("undo", moved, "--list", "-o", "json"))]
    assert titles == ["n=c", "n=b"]
    done("undo", moved)
    done("undo", moved, "--redo")
    assert reading.files(moved) == after
    (tmp_path / "parent").mkdir()
    (moved / "packyard.json").write_text("{}")
    moved.rename(tmp_path / "parent/package")
    listed = json.loads(done("undo", tmp_path / "parent", "--list", "-o", "json"))
    assert [row["title"] for row in listed] == titles
    done("undo", tmp_path / "parent", "--yes")
    done("undo", tmp_path / "parent", "--redo")
    (tmp_path / "parent/package").rename(moved)
    (moved / "packyard.json").unlink()
    assert reading.files(moved) == after
    shutil.copytree(shipped, package)
    file = package / "r.yaml"
    file.write_bytes(file.read_bytes().replace(b"b: v", b"b: of another version"))
    before = reading.files(package)
    assert "nothing to undo" in packyard("undo", package, "--list").stderr
    assert "was changed since in the same lines, or is another package's now" in refused("undo", package)
    assert reading.files(package) == before


def test_undo_looks_for_no_packages_in_what_may_be_the_root_of_all(package: Path, tmp_path: Path) -> None:
    before = reading.files(package)
    (tmp_path / "more").mkdir()
    for number in range(10_001):
        (tmp_path / f"more/{number}").mkdir()
    done("set", package, "n=b")
    done("undo", tmp_path)
    assert reading.files(package) == before


def test_the_title_of_a_change_has_what_was_set_alone(package: Path) -> None:
    done("cfg", "create-setter", ".", "m", "v", cwd=package)
    done("set", "n=b", cwd=package)
    done("set", "n=c", "m=w", "other=1", "--keep", cwd=package)
    assert done("undo", cwd=package).startswith("undone: m=w (")
