"""Where a build writes: over what a build made, and nothing else; all of it, or nothing; never into the sources."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from faults import content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path / "ws")
    tiny.another(root, "q")
    return root


def build(root: Path, out_dir: Path, version: str = "1") -> tuple[int, str]:
    code, _, err = tiny.run("build", "--workspace", root, "--version", version, "--to", out_dir)
    return code, err


#: What may stand in the place of q's tarball, or of its tree, that packyard did not build.
STRANGE: dict[str, Callable[[Path], object]] = {
    "a file": lambda out: (out / "q.tar.gz").write_text("mine"),
    "a pipe": lambda out: os.mkfifo(out / "q.tar.gz"),
    "a folder of somebody": lambda out: tiny.write(out / "q/notes", "mine"),
    "a link as a tree": lambda out: (out / "q").symlink_to(".."),
}
#: What may happen to a build of q between two builds of it.
TOUCHED: dict[str, Callable[[Path], object]] = {
    "a tarball cut off": lambda out: os.truncate(out / "q.tar.gz", 100),
    "a tarball that is a link": lambda out: [
        (out / "q.tar.gz").rename(out / "moved"),
        (out / "q.tar.gz").symlink_to("moved"),
    ],
    "a changed file": lambda out: (out / "q/LICENSE").write_text("mine"),
    "a new link": lambda out: (out / "q/link").symlink_to("LICENSE"),
    "a large file": lambda out: [(out / "q/large").touch(), os.truncate(out / "q/large", 2**40)],
}


@pytest.mark.parametrize("what", [*STRANGE, *TOUCHED])
def test_what_no_build_made_or_somebody_changed_is_left_alone_and_so_is_all_else(
    what: str, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    if what in TOUCHED:
        assert build(root, tmp_path / "out") == (0, "")
    {**STRANGE, **TOUCHED}[what](tmp_path / "out")
    before = sorted((path, path.lstat().st_mtime_ns) for path in (tmp_path / "out").rglob("*"))
    code, said = build(root, tmp_path / "out", "2")
    assert (code, said.startswith(f"error: {tmp_path}/out/q")) == (1, True), said
    assert "choose another --to, or move it away" in said
    assert sorted((path, path.lstat().st_mtime_ns) for path in (tmp_path / "out").rglob("*")) == before


def test_an_earlier_build_is_replaced_also_one_without_its_tree_or_its_tarball(root: Path, tmp_path: Path) -> None:
    tiny.another(root, "r")
    assert build(root, tmp_path / "new", "2") == (0, "")
    assert build(root, tmp_path / "out") == (0, "")
    shutil.rmtree(tmp_path / "out/p")
    (tmp_path / "out/q.tar.gz").unlink()
    os.truncate(tmp_path / "out/p.tar.gz", 0)
    shutil.copy(tmp_path / "new/r.tar.gz", tmp_path / "out")
    assert build(root, tmp_path / "out", "2") == (0, "")
    assert content(tmp_path / "out") == content(tmp_path / "new")


@pytest.mark.parametrize("number", range(8))
def test_a_fault_at_any_rename_leaves_all_packages_as_they_were(
    number: int, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build(root, tmp_path / "out") == (0, "")
    before = content(tmp_path / "out")
    rename, calls = Path.rename, iter(range(1000))

    def failing(path: Path, target: Path) -> Path:
        if path.name.startswith(("p", "q")) and next(calls) == number:
            raise OSError(28, "No space left on device", str(path))
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", failing)
        code, said = build(root, tmp_path / "out", "2")
    assert (code, "No space left on device" in said) == (1, True)
    assert content(tmp_path / "out") == before
    assert build(root, tmp_path / "out", "2") == (0, "")
    assert content(tmp_path / "out") != before


@pytest.mark.parametrize(
    "target", ["packages/p/files/out", "packages", "bases/new", "overlays/../bases", "link", "link/x"]
)
def test_no_result_is_written_into_the_sources(target: str, root: Path) -> None:
    (root / "link").symlink_to("packages/p")
    before = content(root / "packages") | content(root / "bases")
    for verb in (
        ["build", "--version", "1", "--to", root / target],
        ["publish", "--version", "1", "--to", root / target],
    ):
        assert f"{root / target}: lies in the sources" in tiny.refused(*verb, "--workspace", root)
    assert content(root / "packages") | content(root / "bases") == before


def test_a_link_in_the_place_of_the_stage_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    tiny.write(tmp_path / "mine/file", "mine")
    (tmp_path / "out/.packyard-build").symlink_to(tmp_path / "mine")
    code, said = build(root, tmp_path / "out")
    assert (code, said.startswith(f"error: {tmp_path}/out/.packyard-build: ")) == (1, True), said
    assert (tmp_path / "mine/file").read_text() == "mine"
