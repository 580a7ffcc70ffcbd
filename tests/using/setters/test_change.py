"""Many packages in one change: copies of one package are planned once, and told apart all the same."""

from __future__ import annotations

from pathlib import Path

import tiny
from packyard.core.files.tree import Tree
from packyard.core.work.memo import Memo
from packyard.using.setters.change import change_setters
from packyard.using.setters.listing import list_setters
from packyard.using.setters.packages import read_krmfile, read_package

KRMFILE = tiny.text("change/Krmfile")
BOUND = 'x: old # {"$openapi":"V"}\n'


def make(root: Path, **resources: str) -> Path:
    """Make packages with one Krmfile, each with one resource file."""
    for name, text in resources.items():
        (root / name).mkdir()
        (root / name / "Krmfile").write_text(KRMFILE, "utf-8")
        (root / name / "r.yaml").write_text(text, "utf-8")
    return root


def test_packages_of_the_same_bytes_are_all_set_and_each_by_its_name(tmp_path: Path) -> None:
    root = make(tmp_path, a=BOUND, b=BOUND, c=f"y: 1\n{BOUND}")
    changes = change_setters(root, {"V": ["new"]}, recursive=True)
    assert [(item.plan.changes[0].file, item.plan.changes[0].line) for item in changes] == [
        (f"{root}/a/r.yaml", 1),
        (f"{root}/b/r.yaml", 1),
        (f"{root}/c/r.yaml", 2),
    ]
    assert [item.plan.definitions.setters["V"].file for item in changes] == [f"{root}/{name}/Krmfile" for name in "abc"]
    assert [item.plan.counts for item in changes] == [{"V": 1}] * 3
    for name in "abc":
        assert "x: new #" in (root / name / "r.yaml").read_text("utf-8")
        assert "value: new\n          isSet: true\n" in (root / name / "Krmfile").read_text("utf-8")


def test_copies_are_counted_as_each_alone_is(tmp_path: Path) -> None:
    tree = Tree(make(tmp_path, a=BOUND, b=BOUND, c=BOUND + 'y: old # {"$openapi":"V"}\n', d=BOUND))
    (tmp_path / "d/Krmfile").write_text(KRMFILE.replace("type: string", "type: array"), "utf-8")
    memo = Memo()
    listed = []
    for name in "abcd":
        files = read_package(tree, name)
        listed += list_setters(files, read_krmfile(files, memo).definitions, memo)
    assert [(row.field_count, row.setter.file) for row in listed] == [
        (1, f"{tmp_path}/a/Krmfile"),
        (1, f"{tmp_path}/b/Krmfile"),
        (2, f"{tmp_path}/c/Krmfile"),
        (0, f"{tmp_path}/d/Krmfile"),
    ]
    assert listed == [row for name in "abcd" for row in list_setters(read_package(tree, name))]
