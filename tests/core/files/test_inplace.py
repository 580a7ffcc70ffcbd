"""A changed file keeps its owner, mode, attributes and hard links; some files can only be written through."""

import os
from pathlib import Path

import pytest

from core.files.krmfiles import field_values, make_package, set_to
from packyard.core.files import inplace


@pytest.mark.parametrize("sizes", [(5000, 5000), (5000, 9000), (9000, 5000), (10, 5000), (5000, 0)])
def test_a_file_that_was_written_in_part_is_known_from_one_that_was_edited(sizes: tuple[int, int]) -> None:
    old, new = b"o" * sizes[0], b"n" * sizes[1]
    room = max(sizes)
    for done in range(0, len(new) + 1, 512):
        torn = new[:done] + old.ljust(room, b"\0")[done:]
        assert inplace.is_torn(torn, old, new)
        assert not inplace.is_torn(torn + b"mine", old, new)
        assert not inplace.is_torn(b"M" + torn[1:], old, new)
    assert not inplace.is_torn(old[:-1], old, new)


def test_mode_and_further_names_of_a_file_stay(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "one.yaml").chmod(0o640)
    (root / "other-name.txt").hardlink_to(root / "two.yaml")
    set_to(root, "b")
    assert (root / "one.yaml").stat().st_mode & 0o777 == 0o640
    assert (root / "other-name.txt").samefile(root / "two.yaml")
    assert field_values(root) == {"b"}


@pytest.mark.nightly  # needs a file system with attributes
def test_extended_attributes_of_a_file_stay(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    os.setxattr(root / "one.yaml", "user.note", b"x")
    set_to(root, "b")
    assert os.getxattr(root / "one.yaml", "user.note") == b"x"
    assert field_values(root) == {"b"}


def test_two_names_of_one_file_in_a_package_are_both_set(tmp_path: Path) -> None:
    root = make_package(tmp_path / "package")
    (root / "sub/three.yaml").unlink()
    (root / "sub/three.yaml").hardlink_to(root / "one.yaml")
    set_to(root, "b")
    assert field_values(root) == {"b"}
    assert (root / "sub/three.yaml").samefile(root / "one.yaml")
