"""The store in a directory: the contract of all stores, and faults of file systems."""

import errno
import itertools
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import faults
import tiny
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, UnavailableError
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store
from sharing.store_contract import StoreContract


class TestDirectoryStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return DirectoryStore(tmp_path / "channel")


def test_objects_and_directories_are_readable_for_all_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        DirectoryStore(tmp_path / "c").put("a/b", b"")
        DirectoryStore(tmp_path / "c").swap("i/j", b"", None)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("c", "c/a", "c/a/b", "c/i", "c/i/j")}
    assert modes == {"c": 0o755, "c/a": 0o755, "c/a/b": 0o644, "c/i": 0o755, "c/i/j": 0o644}


def test_what_stands_in_the_place_of_a_channel_or_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingStoreError, match="nowhere: no such file or directory"):
        DirectoryStore(tmp_path / "nowhere").get("index/index.json")
    (tmp_path / "file").touch()
    with pytest.raises(MissingStoreError, match="file: is a file, and a folder is needed here"):
        DirectoryStore(tmp_path / "file").get("a")
    (tmp_path / "index" / "index.json").mkdir(parents=True)
    with pytest.raises(NotFoundError, match=r"index\.json: is a directory"):
        DirectoryStore(tmp_path).get("index/index.json")
    with pytest.raises(InputError, match="file: is a file, and a folder is needed here"):
        DirectoryStore(tmp_path).put("file/b", b"2")
    os.mkfifo(tmp_path / "pipe")
    for verb, *data in ((DirectoryStore.get,), (DirectoryStore.put, b"1"), (DirectoryStore.swap, b"1", None)):
        with pytest.raises((InputError, IntegrityError), match=r"pipe: is not a regular file \(a channel has "):
            verb(DirectoryStore(tmp_path), "pipe", *data)  # type: ignore[operator]  # verbs of three forms


def test_a_file_that_may_not_be_read_is_not_called_missing(
    store: DirectoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"1")

    def fail(code: int) -> Callable[..., None]:
        def failing(*_: object) -> None:
            raise OSError(code, os.strerror(code))

        return failing

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", fail(errno.EPERM))
        with pytest.raises(UnavailableError, match=r"no hard links.* \(publish to another folder, a bucket"):
            store.put("b", b"1")
        for code, hint in ((errno.EACCES, "you may not write there: ask"), (errno.ENOSPC, "make room there, then run")):
            patch.setattr(os, "open", fail(code))
            with pytest.raises(UnavailableError, match=rf"/b: {os.strerror(code)} \({hint}"):
                store.put("b", b"1")
        patch.setattr(os, "open", fail(errno.EPERM))
        with pytest.raises(UnavailableError, match=r"/a: .*not permitted \(ask .* chmod a\+rX /") as caught:
            store.get("a")
    assert not isinstance(caught.value, NotFoundError)


def test_a_put_that_is_killed_at_any_call_leaves_nothing_or_all_and_can_be_repeated(tmp_path: Path) -> None:
    for number in itertools.count(1):
        store = DirectoryStore(tmp_path / str(number))
        faulty = faults.Faulty(number, None, names=faults.CHANGING)
        if faults.forked(lambda store=store: store.put("v1/a", b"1"), faulty).code == 0:
            break
        assert store.list("") in ([], ["v1/a"])
        if store.list(""):
            assert store.get("v1/a") == b"1"
        store.put("v1/a", b"1")
        with pytest.raises(ConflictError):
            store.put("v1/a", b"2")
        assert store.list("") == ["v1/a"]
    assert number > 8
    left = [path for path in store.root_dir.rglob("*") if path.is_file()]
    assert left == [store.root_dir / "v1/a"], "what was not killed leaves nothing else"


def outside(tmp_path: Path) -> dict[str, bytes | None]:
    folder = tmp_path / "outside"
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("link", "target"),
    [("a/b", "../../outside/file"), ("a/b", "/dev/zero"), ("a", "../outside"), ("a", "x"), ("x", "a")],
)
def test_no_link_leads_out_of_the_directory(tmp_path: Path, link: str, target: str) -> None:
    tiny.write(tmp_path / "outside/file", b"secret")
    (tmp_path / "channel").mkdir()
    store = DirectoryStore(tmp_path / "channel")
    if "/" in link:
        store.put("a/other", b"")
    if link in ("x", "a") and target in ("x", "a"):  # two links that lead to each other
        (tmp_path / "channel" / target).symlink_to(link)
    (tmp_path / "channel" / link).symlink_to(target)
    before = outside(tmp_path)
    for verb in (
        lambda: store.get("a/b"),
        lambda: store.put("a/b", b"1"),
        lambda: store.swap("a/b", b"1", None),
        lambda: store.swap("a/b", b"1", Digest.of(b"secret")),
    ):
        with pytest.raises(
            (InputError, IntegrityError, UnavailableError), match=r"outside of|[Ll]ink|no such|Invalid|exists"
        ):
            verb()
    assert "a/file" not in store.list("")
    assert outside(tmp_path) == before


def test_a_channel_may_itself_be_a_link_and_have_links_inside(tmp_path: Path) -> None:
    tiny.write(tmp_path / "real/1.0/a", b"1")
    (tmp_path / "real" / "1").symlink_to("1.0")
    (tmp_path / "channel").symlink_to("real")
    assert DirectoryStore(tmp_path / "channel").get("1/a") == b"1"


@pytest.mark.parametrize("put", [os.mkdir, lambda lock: lock.symlink_to("/dev/zero")])
def test_what_is_no_lock_is_named_and_not_waited_for(
    store: DirectoryStore, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / ".packyard.lock")
    with pytest.raises(UnavailableError, match=r"\.packyard\.lock: "):
        store.swap("head", b"1", None)
    assert store.list("") == []


def test_folders_deeper_than_any_channel_are_not_walked(store: DirectoryStore, tmp_path: Path) -> None:
    store.put("a/b", b"")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    assert store.list("") == ["a/b"]
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # too deep for Python's
