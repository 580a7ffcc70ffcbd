"""The git revision of sources: what it is, what differs from it, and going back to it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from packyard.errors import InputError
from packyard.source import revision
from packyard.source.revision import Revision, _public

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
    for path in (*INPUTS, "notes.txt", "overlays/a b.yaml"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root.parent / "other").write_text("x")
    (root / ".gitignore").write_text("ignored/\n*.ignored\n")
    _git(root.parent, "init", "-q")
    _git(root.parent, "add", ".")
    _git(root.parent, "commit", "-qm", "x")
    return root


def _find(root_dir: Path) -> Revision:
    found = revision.find(root_dir)
    assert found
    return found


def test_sources_without_git_have_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision.find(tmp_path) is None
    _git(tmp_path, "init", "-q")
    assert revision.find(tmp_path) is None  # no commit yet
    monkeypatch.setenv("PATH", "")
    assert revision.find(tmp_path) is None


def test_a_clean_checkout_has_its_commit_and_its_folder(root_dir: Path) -> None:
    found = _find(root_dir)
    assert found == Revision(commit=_git(root_dir, "rev-parse", "HEAD"), folder="zoo")
    assert not found.is_dirty(INPUTS)


def test_only_what_was_read_makes_it_dirty(root_dir: Path) -> None:
    (root_dir / "notes.txt").write_text("changed")
    (root_dir.parent / "other").write_text("changed")
    assert not _find(root_dir).is_dirty(INPUTS)


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
    (root_dir / path).parent.mkdir(parents=True, exist_ok=True)
    (root_dir / path).write_text("new")
    found = _find(root_dir)
    assert not found.is_dirty(INPUTS)
    assert found.is_dirty([*INPUTS, path])


def test_goes_back_to_a_commit_without_touching_the_checkout(root_dir: Path, tmp_path: Path) -> None:
    commit = _git(root_dir, "rev-parse", "HEAD")
    (root_dir / INPUTS[1]).write_text("newer")
    _git(root_dir, "commit", "-qam", "newer")
    (root_dir / INPUTS[1]).write_text("newest")
    before = _git(root_dir, "status", "--porcelain")
    (tmp_path / "old").mkdir()
    old = revision.check_out(root_dir, commit, tmp_path / "old")
    assert (old / INPUTS[1]).read_text() == INPUTS[1]
    assert (old / "overlays/a b.yaml").is_file()
    assert (root_dir / INPUTS[1]).read_text() == "newest"
    assert _git(root_dir, "status", "--porcelain") == before


def test_knows_which_commits_it_has(root_dir: Path, tmp_path: Path) -> None:
    commit = _git(root_dir, "rev-parse", "HEAD")
    assert revision.has(root_dir, commit)
    assert not revision.has(root_dir, "0" * 40)
    assert not revision.has(root_dir, _git(root_dir, "rev-parse", "HEAD^{tree}"))
    for text in ("HEAD", "--help", ""):
        assert not revision.has(root_dir, text)
        with pytest.raises(InputError, match="is not a commit"):
            revision.check_out(root_dir, text, tmp_path)


def test_runs_no_program_that_the_repository_names(root_dir: Path, tmp_path: Path) -> None:
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    _git(root_dir, "config", "core.fsmonitor", str(hook))
    _find(root_dir)
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
