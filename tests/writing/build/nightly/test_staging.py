"""What builds leave in OUT while they work: gone with them, also with one that is killed, and with no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import KILLS, content, kills
from packyard.core.bundle import bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest
from packyard.writing.build import tree
from packyard.writing.build.product import Built
from packyard.writing.build.staging import set_aside, staging

pytestmark = pytest.mark.nightly

NAME = "bert-k8s"


def packed(version: str) -> Built:
    """Return a bundle of a few files, all of which say the version."""
    members = [Member(path=f"folder/{number}.yaml", data=f"version: {version}\n".encode()) for number in range(20)]
    return Built.of(bundle.build(Manifest(name=NAME, version=version, use_cases={}, model={}), members))


def build(out_dir: Path, item: Built) -> None:
    with staging(out_dir) as stage_dir:
        if tree.stage(item, out_dir, stage_dir):
            tree.settle([NAME], out_dir, stage_dir)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_live_build_staged_is_left_alone(tmp_path: Path) -> None:
    with staging(tmp_path) as one:
        tree.stage(packed("1.0"), tmp_path, one)
        before = content(one)
        with staging(tmp_path) as other:
            assert other != one
            assert content(one) == before
        assert content(one) == before
        tree.settle([NAME], tmp_path, one)
    assert names(tmp_path) == [NAME, f"{NAME}.tar.gz"]


def test_a_tree_that_a_dead_build_set_aside_is_put_back_unless_its_place_is_taken(tmp_path: Path) -> None:
    dead = tmp_path / ".packyard-0123456789abcdef"
    for name in ("gone", "replaced"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
        dead.mkdir(exist_ok=True)
        set_aside(tmp_path / name, dead)
    (tmp_path / "replaced/new").mkdir(parents=True)
    build(tmp_path, packed("1.0"))
    assert names(tmp_path) == [NAME, f"{NAME}.tar.gz", "gone", "replaced"]
    assert [names(tmp_path / name) for name in ("gone", "replaced")] == [["old"], ["new"]]


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


def test_a_kill_at_a_random_moment_leaves_nothing_behind_the_next_build_and_every_package_whole(tmp_path: Path) -> None:
    out_dir, items = tmp_path / "out", [packed("1.0"), packed("2.0")]
    (tmp_path / "out-tests").symlink_to(Path(__file__).parents[3])
    whole = {item.manifest for item in items}
    left = 0
    build(out_dir, items[0])
    for kill in kills(LOOP, out_dir, count=KILLS):
        left += any(name.startswith(".") for name in names(out_dir))
        with staging(out_dir):
            pass
        assert names(out_dir) == [NAME, f"{NAME}.tar.gz"], kill
        assert tree.find_build(out_dir / NAME) in whole, kill
        build(out_dir, items[0])
        assert tree.find_build(out_dir / NAME) == items[0].manifest, kill
    assert left
