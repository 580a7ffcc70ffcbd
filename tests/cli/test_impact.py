"""`packyard diff --git`: what a change in a git checkout touches, without composing anything else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import real
import tiny
from packyard.writing.build import assemble
from tiny import done, packyard


def git(folder: Path, *words: str) -> None:
    real.program("git")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def commit(folder: Path, message: str = "x") -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("committed") / "checkout"
    sources = tiny.workspace(root / "zoo")
    for name in ("q", "r"):
        shutil.copytree(sources / "packages/p", sources / "packages" / name)
    shutil.copytree(sources / "bases/one", sources / "bases/two")
    tiny.replace(sources / "packages/r/package.yaml", "{base: one}", "{base: two}")
    git(root, "init", "--quiet")
    commit(root)
    return root


@pytest.fixture
def checkout(committed: Path, tmp_path: Path) -> Path:
    """A workspace in a checkout, in a folder of it: packages p, q and r, of which r has another base, two."""
    return Path(shutil.copytree(committed, tmp_path / "checkout")) / "zoo"


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages that are composed."""
    names: list[str] = []
    draft = assemble.draft
    monkeypatch.setattr(assemble, "draft", lambda here, name, version: names.append(name) or draft(here, name, version))
    return names


def changed(root: Path, old: str = '"1"', new: str = '"2"', base: str = "two") -> Path:
    tiny.replace(root / f"bases/{base}/cm.yaml", old, new)
    return root


def impact(root: Path, *words: str) -> str:
    return done("diff", "--git", *words, "--no-cache", cwd=root)


def test_composes_what_is_touched_and_nothing_else(checkout: Path, composed: list[str]) -> None:
    assert impact(changed(checkout)) == ('1 of 3 packages, 1 use case\nr/uses/one\n  ConfigMap x: data.a "1" → "2"\n')
    assert composed == ["r", "r"]
    composed.clear()
    assert impact(changed(checkout, base="one")) == (
        '3 of 3 packages, 3 use cases\np/uses/one\nq/uses/one\nr/uses/one\n  ConfigMap x: data.a "1" → "2"\n'
    )


def test_composes_nothing_where_no_package_reads_what_was_changed(checkout: Path, composed: list[str]) -> None:
    (checkout / "README.md").write_text("# zoo\n")
    (checkout / "bases/three").mkdir()
    (checkout / "bases/three/kustomization.yaml").write_text("nothing\n")
    assert impact(checkout) == "0 of 3 packages, 0 use cases\n"
    assert composed == []


@pytest.mark.parametrize("is_committed", [True, False])
def test_counts_from_where_the_branch_left_the_base(checkout: Path, is_committed: bool) -> None:
    git(checkout, "branch", "release")
    git(checkout, "checkout", "--quiet", "-b", "other")
    changed(checkout)
    if is_committed:
        commit(checkout)
    with_own = '1 of 3 packages, 1 use case\nr/uses/one\n  ConfigMap x: data.a "1" → "2"\n'
    assert impact(checkout, "release") == with_own
    git(checkout, "stash", "--quiet") if not is_committed else None
    git(checkout, "checkout", "--quiet", "main")
    changed(checkout, base="one")
    commit(checkout)
    git(checkout, "checkout", "--quiet", "other")
    git(checkout, "stash", "pop", "--quiet") if not is_committed else None
    assert impact(checkout, "main") == with_own


def test_prints_json_and_markdown(checkout: Path) -> None:
    rows = json.loads(impact(changed(checkout), "--output", "json"))
    assert [(row["package"], row["where"], row["path"]) for row in rows] == [("r", "uses/one", "data.a")]
    assert impact(checkout, "-o", "markdown") == (
        '1 of 3 packages, 1 use case\n- `r/uses/one`\n  - `ConfigMap x`: `data.a` `"1"` → `"2"`\n'
    )


def test_a_base_without_a_workspace_has_no_packages(checkout: Path) -> None:
    git(checkout, "mv", "packyard.yaml", "later.yaml")
    commit(checkout)
    git(checkout, "mv", "later.yaml", "packyard.yaml")
    assert impact(checkout).startswith("3 of 3 packages, 0 use cases\np\nq\nr\n  package added\n")


def test_names_files_of_a_broken_base_by_their_commit(checkout: Path) -> None:
    tiny.replace(checkout / "packages/q/package.yaml", "base: one", "bass: one")
    commit(checkout)
    tiny.replace(checkout / "packages/q/package.yaml", "bass: one", "base: one")
    found = packyard("diff", "--git", "--no-cache", cwd=checkout)
    assert (found.returncode, found.stdout) == (1, "")
    assert ":packages/q/package.yaml:4:9: useCases.one.bass: is not a known key (did you mean 'base'?)" in found.stderr
    assert "/tmp/packyard-" not in found.stderr


@pytest.mark.parametrize(
    "name", ["nothing", "HEAD~9", "main..HEAD", "", ":packyard.yaml", "HEAD^{tree}", "a\nb", "x" * 5000]
)
def test_refuses_what_is_no_revision(checkout: Path, name: str) -> None:
    found = packyard("diff", f"--git={name}", cwd=checkout)
    assert (found.returncode, found.stdout) == (1, ""), name
    assert "there is no revision" in found.stderr
    assert "(git log --all lists commits)" in found.stderr
