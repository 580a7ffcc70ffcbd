"""What builds leave in OUT while they work: gone with them, and of one that is killed with the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import KILLS, content, kills
from packyard.core.bundle import bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.writing.build import tree
from packyard.writing.build.tree import staging

pytestmark = pytest.mark.nightly

NAME = "bert-k8s"


def packed(version: str) -> Bundle:
    """Return a bundle of a few files, all of which say the version."""
    members = [Member(path=f"folder/{number}.yaml", data=f"version: {version}\n".encode()) for number in range(20)]
    return bundle.build(Manifest(name=NAME, version=version, use_cases={}, model={}), members)


def build(out_dir: Path, item: Bundle) -> None:
    with staging(out_dir) as stage_dir:
        tree.stage(item, out_dir, stage_dir)
        tree.settle(out_dir, stage_dir)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1] + "-tests")
from writing.build.nightly.test_staging import build, packed
out_dir, items = Path(sys.argv[1]), [packed("1.0"), packed("2.0")]
print("ready", flush=True)
while True:
    for item in items:
        build(out_dir, item)
"""


def test_a_kill_at_a_random_moment_leaves_nothing_behind_the_next_build(tmp_path: Path) -> None:
    out_dir, items = tmp_path / "out", [packed("1.0"), packed("2.0")]
    (tmp_path / "out-tests").symlink_to(Path(__file__).parents[3])
    build(out_dir, items[0])
    whole, left = content(out_dir), 0
    for kill in kills(LOOP, out_dir, count=KILLS):
        left += any(name.startswith(".") for name in names(out_dir))
        build(out_dir, items[0])
        assert content(out_dir) == whole, kill
    assert left
