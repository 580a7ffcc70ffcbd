"""Files that somebody changes meanwhile, or that cannot be changed: the command changes all files or none."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from core.files.krmfiles import FIELD, edit, make_package, set_to
from faults import content, leftovers
from packyard.core.errors import ConflictError, UnavailableError
from packyard.core.files import atomic, inplace, replace
from packyard.core.files.tree import Tree


def at_call(monkeypatch: pytest.MonkeyPatch, holder: object, name: str, act: Callable[[], object]) -> None:
    """Do something right before the first call of a function."""
    real = getattr(holder, name)
    waiting = [act]

    def call(*args: object, **kwargs: object) -> object:
        if waiting:
            waiting.pop()()
        return real(*args, **kwargs)

    monkeypatch.setattr(holder, name, call)


def test_an_edit_that_is_made_while_new_files_go_to_the_disk_takes_the_whole_change_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    old = content(root)
    at_call(monkeypatch, atomic, "flush_all", lambda: edit(root / "two.yaml"))
    with pytest.raises(ConflictError, match=r"two\.yaml: was changed by somebody else meanwhile; nothing was written"):
        set_to(root, "b")
    assert content(root) == {**old, "two.yaml": old["two.yaml"] + b"mine: by hand\n"}
    assert not leftovers(root)


@pytest.mark.parametrize(
    "reason", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=["Ctrl-C", "full"]
)
def test_what_ends_the_staging_of_files_leaves_nothing_behind(
    reason: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    old = content(root)
    stage, calls = inplace.stage, iter(range(100))

    def ended(*args: object, **kwargs: object) -> object:
        if next(calls) == 2:
            raise reason
        return stage(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(inplace, "stage", ended)
    with pytest.raises((KeyboardInterrupt, UnavailableError)):
        set_to(root, "b")
    assert content(root) == old
    assert not leftovers(root)


def test_ctrl_c_while_files_take_their_places_waits_until_all_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    at_call(monkeypatch, replace, "_take_place", lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        set_to(root, "b")
    changed = content(root)
    assert not leftovers(root)
    set_to(root, "b")
    assert content(root) == changed


def test_a_file_that_appears_where_one_is_to_be_made_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package(tmp_path / "package")
    at_call(monkeypatch, replace, "_take_place", lambda: (root / "new.yaml").write_text("mine", "utf-8"))
    tree = Tree(root)
    tree.read("one.yaml")
    with pytest.raises(ConflictError, match=r"new\.yaml: was changed by somebody else"):
        tree.write({"one.yaml": b"b", "new.yaml": b"c"})
    assert ((root / "new.yaml").read_text("utf-8"), (root / "one.yaml").read_text("utf-8")) == ("mine", FIELD)
    assert not leftovers(root)
