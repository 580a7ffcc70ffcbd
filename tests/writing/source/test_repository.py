"""Libraries in git repositories: what is fetched, and what a hostile one cannot do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import real
import tiny
from packyard.core.errors import PackyardError
from packyard.writing.source import repository
from packyard.writing.source.library_entry import Entry
from writing.source import libraries


def git(folder: Path, *words: object, given: str = "") -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    command = (real.program("git"), "-C", folder, *identity, *map(str, words))
    return subprocess.run(command, check=True, capture_output=True, text=True, input=given).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    return libraries.write(tmp_path / "parts", A="1")


def entry(folder: Path, at: str, protocol: str = "file://") -> Entry:
    return Entry(name="parts", git=f"{protocol}{folder}", commit=at, file="packyard.yaml", line=7)


def read(folder: Path, at: str) -> dict[str, bytes]:
    return {member.path: member.data for member in repository.read(entry(folder, at))[1]}


def refusal(folder: Path, at: str) -> str:
    with pytest.raises(PackyardError) as caught:
        repository.read(entry(folder, at))
    return str(caught.value)


def test_reads_the_files_of_a_commit_that_is_not_the_last_one(parts: Path) -> None:
    (parts / "bases/below/run.sh").write_text("#!/bin/sh\n")
    (parts / "bases/below/run.sh").chmod(0o755)
    tiny.write(parts / "packages/p/package.yaml", "not a part\n")
    first = commit(parts)
    tiny.write(parts / "bases/below/cm.yaml", "changed\n")
    commit(parts)
    found = read(parts, first)
    assert set(found) == {
        "Krmfile", "LICENSE", "packyard.yaml", "bases/below/cm.yaml", "bases/below/kustomization.yaml",
        "bases/below/run.sh",
    }  # fmt: skip
    assert b'A: "1"' in found["bases/below/cm.yaml"]
    assert {each.path for each in repository.read(entry(parts, first))[1] if each.executable} == {"bases/below/run.sh"}


def test_says_that_a_repository_has_no_such_commit_and_that_there_is_no_repository(parts: Path) -> None:
    commit(parts)
    missing = "0123456789" * 4
    assert f"packyard.yaml:7: the library parts has no commit {missing} in file://" in refusal(parts, missing)
    assert "packyard.yaml:7: the library parts cannot be fetched from file:///nowhere: " in refusal(
        Path("/nowhere"), missing
    )


def test_runs_nothing_of_the_repository_and_no_filter_of_the_user(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    tiny.write(tmp_path / "home/.gitconfig", f'[filter "x"]\nsmudge = touch {ran}; cat\nrequired = true\n')
    tiny.write(parts / "bases/.gitattributes", "*.yaml filter=x text eol=crlf\n")
    at = commit(parts)
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        tiny.write(parts / ".git/hooks" / hook, f"#!/bin/sh\ntouch {ran}\n")
        (parts / ".git/hooks" / hook).chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert b"\r" not in read(parts, at)["bases/below/cm.yaml"]
    assert not ran.exists()


def test_refuses_links_and_submodules_among_the_parts(parts: Path) -> None:
    (parts / "bases/below/leak").symlink_to("/etc/passwd")
    at = commit(parts)
    assert "has 'bases/below/leak', which is not a file (a library has files and folders)" in refusal(parts, at)
    git(parts, "rm", "--quiet", "--force", "bases/below/leak")
    git(parts, "update-index", "--add", "--cacheinfo", f"160000,{at},bases/other")
    git(parts, "commit", "--quiet", "--message=submodule")
    assert "has 'bases/other', which is not a file" in refusal(parts, git(parts, "rev-parse", "HEAD"))


def test_a_rewritten_address_cannot_lead_to_another_protocol(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    at = commit(parts)
    tiny.write(tmp_path / "home/.gitconfig", f'[url "ext::touch {ran} "]\ninsteadOf = file://\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert "cannot be fetched" in refusal(parts, at)
    assert not ran.exists()


def test_leaves_the_repository_alone_in_whose_hook_it_runs(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = commit(parts)
    other = libraries.write(parts.parent / "other", B="2")
    before = commit(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    found = read(parts, at)
    monkeypatch.undo()
    assert b'A: "1"' in found["bases/below/cm.yaml"]
    assert (git(other, "rev-parse", "HEAD"), git(other, "status", "--porcelain")) == (before, "")


def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetch: str) -> None:
    """Let git fetch by other commands."""
    file = tmp_path / "git"
    file.write_text(f'#!/bin/sh\ncase " $* " in *" fetch "*) {fetch} ;; esac\nexec {real.program("git")} "$@"\n')
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.parametrize("where", ["repository.git/pack", "/dev/stdout", "/dev/stderr"])
def test_a_server_that_sends_without_end_is_not_heard_to_the_end(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    at = commit(parts)
    _stand_in(tmp_path, monkeypatch, f"yes >>{where}")
    monkeypatch.setattr(repository._git, "__kwdefaults__", {"data": b"", "most": 100_000})
    assert refusal(parts, at).endswith(": git writes more than 100000 bytes")


def test_trees_that_hold_trees_are_not_listed_without_end(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred bytes can name millions of files."""
    commit(parts)
    tree = git(parts, "rev-parse", "HEAD:bases")
    for _ in range(6):
        tree = git(parts, "mktree", given="".join(f"040000 tree {tree}\t{name}\n" for name in "0123456789"))
    top = git(parts, "mktree", given=f"040000 tree {tree}\tbases\n")
    at = git(parts, "commit-tree", "-m", "x", top)
    git(parts, "branch", "bomb", at)
    monkeypatch.setattr(repository, "_LISTED", 1_000_000)
    assert "git writes more than 1000000 bytes" in refusal(parts, at)


def test_a_tag_is_that_of_its_commit_and_what_is_pinned_counts_more(parts: Path) -> None:
    first = commit(parts)
    git(parts, "tag", "v1")
    git(parts, "tag", "--annotate", "--message=x", "release/1.0")
    tiny.write(parts / "bases/below/cm.yaml", "changed\n")
    second = commit(parts)
    for tag in ("v1", "release/1.0"):
        found, files = repository.read(tagged(parts, tag))
        assert found == first
        assert b"changed\n" not in [each.data for each in files]
    assert repository.read(tagged(parts, "v1"), second)[0] == second
    git(parts, "tag", "--force", "v1")
    assert repository.read(tagged(parts, "v1"))[0] == second
    with pytest.raises(PackyardError, match="the library parts has no tag v2 in file://"):
        repository.read(tagged(parts, "v2"))
    with pytest.raises(PackyardError, match="which is no commit"):
        repository.read(tagged(parts, "v1"), "--output=x")


def tagged(folder: Path, tag: str) -> Entry:
    return Entry(name="parts", git=f"file://{folder}", tag=tag, file="packyard.yaml", line=7)
