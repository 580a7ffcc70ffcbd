"""A folder's files: which are found, and that no link or path leads out of the root."""

import os
from pathlib import Path

import pytest

from core.files.krmfiles import FIELD, field_values, make_package
from faults import Faulty, forked, recover
from packyard.core.errors import ConflictError, InputError, UnavailableError
from packyard.core.files import undo
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.setting import set_values


def test_a_tree_is_walked_in_byte_order_and_linked_folders_are_not_entered(tmp_path: Path) -> None:
    for folder in ("b", "a/deep", "B", "\u00e9", "\U0001f600"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f.yaml").touch()
    (tmp_path / "c").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    assert list(Tree(tmp_path).walk()) == [
        ("", ["B", "a", "b", "c", "\u00e9", "\U0001f600"], ["loop"]),
        ("B", [], ["f.yaml"]),
        ("a", ["deep"], []),
        ("a/deep", [], ["f.yaml"]),
        ("b", [], ["f.yaml"]),
        ("\u00e9", [], ["f.yaml"]),
        ("\U0001f600", [], ["f.yaml"]),
    ]


def test_a_link_is_edited_where_it_leads_and_only_inside_the_folder(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "link.yaml").symlink_to("sub/three.yaml")
    (root / "one.yaml").unlink()
    (root / "one.yaml").symlink_to("two.yaml")
    set_values(root, {"V": ["b"]})
    assert (root / "link.yaml").is_symlink()
    assert field_values(root) == {"b"}

    outside = tmp_path / "outside.yaml"
    outside.write_text('x: a # {"$openapi":"V"}\n', "utf-8")
    (root / "out.yaml").symlink_to(outside)
    with pytest.raises(InputError, match="outside of"):
        set_values(root, {"V": ["c"]})
    assert field_values(root) == {"b"}


@pytest.mark.parametrize(
    "path", ["../victim", "sub/../../victim", "{}/victim", "out/victim", "link", "out", "", ".", "a\0b"]
)
def test_no_path_leads_out_whether_read_written_or_removed(path: str, tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (tmp_path / "victim").write_text("mine", "utf-8")
    (root / "out").symlink_to("..")
    (root / "link").symlink_to("../victim")
    tree = Tree(root)
    with pytest.raises(InputError):
        tree.read(path.format(tmp_path))
    for data in (b"x", None):
        with tree.locked(), pytest.raises(InputError):
            tree.write({path.format(tmp_path): data})
    assert (tmp_path / "victim").read_text("utf-8") == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["package", "victim"]


def test_links_may_lead_to_other_files_of_the_bundle_that_a_folder_is_of(tmp_path: Path) -> None:
    root = make_package(tmp_path / "bundle/a/use-case")
    (tmp_path / "bundle/shared.yaml").write_text(FIELD, "utf-8")
    (root / "one.yaml").unlink()
    (root / "one.yaml").symlink_to("../../shared.yaml")
    with pytest.raises(InputError, match="outside of"):
        set_values(root, {"V": ["b"]})
    (tmp_path / "bundle/packyard.json").touch()
    set_values(root, {"V": ["b"]})
    assert field_values(root) == {"b"}
    assert (root / "one.yaml").is_symlink()
    (tmp_path / "bundle").chmod(0o777)  # who could have put that file there?
    (tmp_path / "bundle/a").chmod(0o777)
    with pytest.raises(InputError, match="outside of"):
        set_values(root, {"V": ["c"]})


def test_names_that_are_no_text_are_set_and_taken_back(tmp_path: Path) -> None:
    root = make_package(tmp_path / "top" / os.fsdecode(b"\xff"))
    log = StepLog(tmp_path / "steps", "set")
    set_values(tmp_path / "top", {"V": ["b"]}, recursive=True, log=log)
    assert field_values(root) == {"b"}
    history = undo.History(log, Tree(tmp_path), [tmp_path / "top"], lambda _path, _then, _now, back: back)
    history.take_back(next(history.shown()))
    assert field_values(root) == {"a"}
    interrupted = forked(lambda: set_values(root, {"V": ["c"]}), Faulty(3, None, names=("rename",)))
    assert interrupted.code == -9
    recover(root)
    assert field_values(root) == {"c"}


def _change(root: Path, files: dict[str, bytes | None]) -> None:
    tree = Tree(root)
    with tree.locked():
        for path in files:
            if tree.has(path):
                tree.read(path)
        tree.write(files, executable=["new/bin/run"])


def test_new_files_get_their_folders_and_folders_that_are_left_empty_go(tmp_path: Path) -> None:
    (tmp_path / "old/below").mkdir(parents=True)
    (tmp_path / "old/below/a").write_bytes(b"1")
    (tmp_path / "kept").write_bytes(b"1")
    _change(tmp_path, {"old/below/a": None, "new/bin/run": b"#!\n", "new/b": b"2"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "new"]
    assert (tmp_path / "new/bin/run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "new/b").stat().st_mode & 0o777 == 0o644


def test_a_change_that_fails_leaves_no_new_folders(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    tree = Tree(tmp_path)
    with tree.locked():
        tree.read("a")
        (tmp_path / "a").write_bytes(b"2")
        with pytest.raises(ConflictError, match=r"a: was changed by somebody else"):
            tree.write({"a": b"3", "new/below/b": b"3"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"2"
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnavailableError, match=r"nothing was changed"):
        _change(tmp_path, {"other/b": b"3", "file/below/b": b"3"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "file"]
