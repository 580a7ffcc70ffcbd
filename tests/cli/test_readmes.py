"""`build --readmes`: READMEs printed and written, by the code that `build` uses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tiny
from tiny import done, packyard


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with packages p and q."""
    root = tiny.workspace(tmp_path / "sources")
    shutil.copytree(root / "packages/p", root / "packages/q")
    return root


def test_prints_what_build_ships(root: Path, tmp_path: Path) -> None:
    done("build", "p", "--workspace", root, "--version", "1.0", "--to", tmp_path)
    assert done("build", "p", "--readmes", "-", "--version", "1.0", cwd=root) == (tmp_path / "p/README.md").read_text()
    assert done("build", "p", "--readmes", "-", cwd=root) == "# p VERSION\n"
    assert done("build", "--readmes", "-", cwd=root) == "# p VERSION\n\n# p VERSION\n"


def test_writes_a_file_for_each_package(root: Path) -> None:
    assert done("build", "--readmes", "texts", cwd=root) == "texts/p.md\ntexts/q.md\n"
    assert (root / "texts/p.md").read_text() == "# p VERSION\n"
    assert done("build", "--readmes", "texts", "--version", "2.0", cwd=root)
    assert (root / "texts/q.md").read_text() == "# p 2.0\n"


@pytest.mark.parametrize(
    ("fragment", "says"),
    [
        ("one\n{{ nmae }}\n", "packages/q/docs/10-more.md:2: 'nmae' is undefined"),
        ("{% include '/etc/passwd' %}\n", "packages/q/docs/10-more.md:1: no loader"),
        ("{% for a in range(9999999) %}{% endfor %}\n", "packages/q/docs/10-more.md:1: "),
    ],
)
def test_a_fault_in_a_fragment_writes_nothing(root: Path, fragment: str, says: str) -> None:
    tiny.write(root / "packages/q/docs/10-more.md", fragment)
    found = packyard("build", "--readmes", "texts", cwd=root)
    assert (found.returncode, found.stdout) == (1, "")
    assert says in found.stderr
    assert not (root / "texts").exists()
