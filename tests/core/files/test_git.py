"""The git revision of sources: what it is, what differs from it, and going back to it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from packyard.core.files import git
from packyard.core.files.git import Revision, _public

INPUTS = ("packyard.yaml", "packages/p/package.yaml")


def _git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    named = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *named, *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def root_dir(tmp_path: Path) -> Path:
    """Sources in a folder of a repository."""
    root = tmp_path / "repository" / "zoo"
    tiny.write_all(root, {path: path for path in (*INPUTS, "notes.txt", "overlays/a b.yaml")})
    (root.parent / "other").write_text("x")
    (root / ".gitignore").write_text("ignored/\n*.ignored\n")
    _git(root.parent, "init", "-q")
    _git(root.parent, "add", ".")
    _git(root.parent, "commit", "-qm", "x")
    return root


def _find(root_dir: Path) -> Revision:
    found = git.find(root_dir)
    assert found
    return found


def test_sources_without_git_have_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git.find(tmp_path) is None
    _git(tmp_path, "init", "-q")
    assert git.find(tmp_path) is None  # no commit yet
    monkeypatch.setenv("PATH", "")
    assert git.find(tmp_path) is None


CHANGES: dict[str, Callable[[Path], object]] = {
    "changed": lambda root: (root / INPUTS[1]).write_text("changed"),
    "made executable": lambda root: (root / INPUTS[1]).chmod(0o755),
    "staged": lambda root: ((root / INPUTS[1]).write_text("changed"), _git(root, "add", ".")),
    "removed": lambda root: (root / "notes.txt").unlink(),
    "renamed": lambda root: _git(root, "mv", "notes.txt", "more.txt"),
    "no longer tracked": lambda root: _git(root, "rm", "-q", "--cached", INPUTS[1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_is_dirty_where_an_input_is(root_dir: Path, change: str) -> None:
    CHANGES[change](root_dir)
    assert _find(root_dir).is_dirty(INPUTS)


@pytest.mark.parametrize(
    "path", ["packages/new.yaml", "packages/q/package.yaml", "ignored/x/y.yaml", "x.ignored", "a é.yaml"]
)
def test_is_dirty_where_a_file_that_git_does_not_know_was_read(root_dir: Path, path: str) -> None:
    tiny.write(root_dir / path, "new")
    found = _find(root_dir)
    assert not found.is_dirty(INPUTS)
    assert found.is_dirty([*INPUTS, path])


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program that tells that it ran, by a file `ran`."""
    return str(tiny.script(tmp_path / "program", f"touch {tmp_path}/ran\ncat"))


def _filter(root_dir: Path, name: str, program: str, *where: str) -> None:
    """Let every file go through a program."""
    for way in ("clean", "smudge"):
        _git(root_dir, "config", *where, f"filter.{name}.{way}", program)
    _git(root_dir, "config", *where, f"filter.{name}.required", "true")
    (root_dir / ".gitattributes").write_text(f"*.yaml filter={name}\n")
    (root_dir / INPUTS[1]).write_text("changed, and as long"[: len(INPUTS[1])].ljust(len(INPUTS[1])))


@pytest.mark.parametrize(("where", "name"), [("included", "lfs"), ("worktree", "a=b"), ("process", "a.B")])
def test_runs_no_filter_of_the_repository_wherever_it_names_it(
    root_dir: Path, tmp_path: Path, program: str, where: str, name: str
) -> None:
    _git(root_dir, "config", "extensions.worktreeConfig", "true")
    _git(root_dir, "config", "include.path", "more")
    more = str(root_dir.parent / ".git/more")
    _filter(root_dir, name, program, *(["--file", more] if where == "included" else ["--worktree"]))
    if where == "process":
        _git(root_dir, "config", f"filter.{name}.process", program)
    assert _find(root_dir).is_dirty(INPUTS)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("key", ["core.fsmonitor", "core.hooksPath"])
def test_runs_no_program_that_the_repository_names(root_dir: Path, tmp_path: Path, program: str, key: str) -> None:
    for hook in ("post-index-change", "post-checkout"):
        (tmp_path / hook).symlink_to(program)
    _git(root_dir, "config", key, program if key == "core.fsmonitor" else str(tmp_path))
    (root_dir / INPUTS[1]).write_text("changed")
    assert _find(root_dir).is_dirty(INPUTS)
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_among_the_sources_is_none(root_dir: Path, tmp_path: Path, program: str) -> None:
    """Anybody can commit one, with a configuration of its own."""
    inner = root_dir / "inner"
    _git(root_dir, "clone", "-q", "--bare", str(root_dir.parent), str(inner))
    for key, value in {"core.bare": "false", "core.worktree": ".", "core.fsmonitor": program}.items():
        _git(inner, "config", key, value)
    assert git.find(inner) is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://user:token@example.com:8443/a/b.git", "git+https://example.com:8443/a/b.git"),
        ("https://token@example.com/b", "git+https://example.com/b"),
        ("git@example.com:a/b.git", "git+ssh://git@example.com/a/b.git"),
        ("ssh://git@example.com/a/b.git", "git+ssh://git@example.com/a/b.git"),
        ("ssh://git:secret@example.com/a/b.git", "git+ssh://git@example.com/a/b.git"),
        ("https://example.com/a?token=x", "git+https://example.com/a"),
        ("/home/me/zoo", ""),
        ("../zoo", ""),
        ("file:///home/me/zoo", ""),
        ("C:/zoo", ""),
        ("ext::sh -c x", ""),
        ("https://[x/", ""),
        ("", ""),
    ],
)
def test_the_address_of_a_repository_has_no_secret_and_no_path_of_this_machine(url: str, expected: str) -> None:
    assert _public(url) == expected
