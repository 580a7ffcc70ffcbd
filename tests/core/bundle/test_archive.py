"""Packing gives the same bytes everywhere; unpacking writes all files or none."""

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest

import real
from core.bundle.unpacking import unpack
from packyard.core.bundle import tar
from packyard.core.bundle.archive import Member, compress, pack
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, UnavailableError
from packyard.core.files import atomic

FILES = [
    Member(path="README.md", data=b"# bert\n"),
    Member(path="quickstart/mlops/multi-node/user-mounted-nfs/mpi-job.yaml", data=b"kind: MPIJob\n"),
    Member(path="quickstart/run.sh", data=b"#!/bin/sh\n", executable=True),
    Member(path="quickstart-notes.md", data=b""),
    Member(path="Zeta/naïve.md", data=b"\0" * 700),
]
TAR = "sha256:b9bc8b89460a6daee1aa9156a35eee9c0e6502e98e59566159e32bfcd5cb2d6d"


def test_the_bytes_are_pinned() -> None:
    packed = pack("bert-k8s", FILES)
    assert Digest.of(packed) == TAR
    assert compress(packed)[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"  # no name, no time, no system


@pytest.mark.parametrize("umask", ["022", "077", "002"])
def test_unpacks_files_with_modes_less_the_umask(tmp_path: Path, umask: str) -> None:
    before = os.umask(int(umask, 8))
    try:
        top_dir = unpack(compress(pack("bert-k8s", FILES)), tmp_path)
    finally:
        os.umask(before)
    assert top_dir == tmp_path / "bert-k8s"
    assert [path.name for path in tmp_path.iterdir()] == ["bert-k8s"]
    for member in FILES:
        file = top_dir / member.path
        assert file.read_bytes() == member.data
        assert stat.S_IMODE(file.stat().st_mode) == (0o755 if member.executable else 0o644) & ~int(umask, 8)
    assert stat.S_IMODE(top_dir.stat().st_mode) == 0o755 & ~int(umask, 8)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_refuses_to_unpack_over_what_exists(tmp_path: Path, make: object) -> None:
    make(tmp_path / "bert-k8s")  # type: ignore[operator]
    with pytest.raises(ConflictError, match="exists already"):
        unpack(compress(pack("bert-k8s", FILES)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bert-k8s"]


def test_refuses_to_unpack_into_what_is_no_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        unpack(compress(pack("bert-k8s", FILES)), tmp_path / "missing")


def test_leaves_nothing_behind_when_a_file_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all = atomic.write_all

    def full(handle: int, data: bytes) -> None:
        if len(data) == 700:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_all(handle, data)

    monkeypatch.setattr(atomic, "write_all", full)
    with pytest.raises(UnavailableError, match="cannot be written"):
        unpack(compress(pack("t", FILES)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_loses_no_race_for_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def be_overtaken(old: str, new: str) -> None:
        (tmp_path / "t").mkdir()
        (tmp_path / "t" / "theirs").touch()
        rename(old, new)

    monkeypatch.setattr(os, "rename", be_overtaken)
    with pytest.raises(ConflictError, match="exists already"):
        unpack(compress(pack("t", FILES)), tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["t", "theirs"]


@pytest.mark.parametrize("name", ["x" * 101, f"{'p' * 156}/n", f"p/{'n' * 101}", f"{'p/' * 120}{'n' * 99}"])
def test_refuses_to_write_a_name_that_does_not_fit(name: str) -> None:
    with pytest.raises(InputError, match="too long for a tar archive"):
        tar.write([tar.TarEntry(name=name)])


def test_names_every_path_that_cannot_be_packed() -> None:
    paths = ["/a", "../b", "c\\d", "e/", "ok", "OK", "ok", "cafe\u0301", "f", "f/g"]
    with pytest.raises(InputError) as caught:
        pack("top", [Member(path=path, data=b"") for path in paths])
    text = str(caught.value)
    for path in ("'/a'", "'../b'", "'c\\\\d'", "'e/'", "'OK'", "'ok' appears twice", "'cafe\u0301'", "'f/g'"):
        assert f"the path {path}" in text


@pytest.mark.parametrize("top", ["", "..", "a/b", "a\n"])
def test_refuses_a_top_directory_that_is_no_name(top: str) -> None:
    with pytest.raises(InputError, match="not a name for a directory"):
        pack(top, FILES)


def test_gnu_tar_extracts_the_same_files_and_modes(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(compress(pack("bert-k8s", FILES)))
    extract = [real.gnu_tar(), "-xvf", "a.tar.gz"]
    env = {"LC_ALL": "C.UTF-8", **os.environ, "PATH": real.path_with("gzip")}
    run = subprocess.run(extract, cwd=tmp_path, capture_output=True, check=True, env=env)
    assert run.stderr == b""
    (tmp_path / "ours").mkdir()
    unpack((tmp_path / "a.tar.gz").read_bytes(), tmp_path / "ours")
    theirs_dir, ours_dir = tmp_path / "bert-k8s", tmp_path / "ours" / "bert-k8s"
    assert snapshot(theirs_dir) == snapshot(ours_dir)
    listed = {os.path.normpath(line) for line in run.stdout.decode("unicode_escape").splitlines()}
    assert len(listed) == 1 + len(list(ours_dir.rglob("*")))


def snapshot(top_dir: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(top_dir).as_posix(): (path.stat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in top_dir.rglob("*")
    }
