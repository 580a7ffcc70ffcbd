"""Values and comments of one line, each changed by one side: both changes stay, and what both changed is a conflict."""

from __future__ import annotations

import pytest

from packyard.using.upgrade import onefile

SET = ' # {"$openapi":"A"}'


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a: 2\n", "a: 7\n", f"a: 2{SET}\n", f"a: 7{SET}\n"),
        ("a: 2\n", f"a: 2{SET}\n", "a: 7\n", f"a: 7{SET}\n"),
        ("a: 2 # old\n", "a: 7 # old\n", f"a: 2{SET}\n", f"a: 7{SET}\n"),
        (f"a: 2{SET}\n", f"a: 7{SET}\n", "a: 2\n", "a: 7\n"),
        (f"a: 2{SET}\n", "a: 2\n", f"a: 7{SET}\n", "a: 7\n"),
        ("a: 2\nb: 3\n", "a: 7\nb: 8\n", f"a: 2{SET}\nb: 3{SET}\n", f"a: 7{SET}\nb: 8{SET}\n"),
        ("a: 2\nb: 3\n", "a: 7\nb: 3\n", f"a: 2{SET}\nb: 3{SET}\n", f"a: 7{SET}\nb: 3{SET}\n"),
        ("a: 2\n", "a: 7\nmine: 1\n", f"a: 2{SET}\n", f"a: 7{SET}\nmine: 1\n"),
        ("a: '2 # no'\n", 'a: "7 # no"\n', f"a: '2 # no'{SET}\n", f'a: "7 # no"{SET}\n'),
        ("a: 2\r\nb: 3\r\n", "a: 7\r\nb: 3\r\n", f"a: 2{SET}\r\nb: 3\r\n", f"a: 7{SET}\r\nb: 3\r\n"),
        ("a: 2", "a: 7", f"a: 2{SET}", f"a: 7{SET}"),
        ("a: é\n", "a: ü\n", f"a: é{SET}\n", f"a: ü{SET}\n"),
        ("a: |\n  x\n", "a: |\n  y\n", f"a: |{SET}\n  x\n", f"a: |{SET}\n  y\n"),
        ("a:\n- x\n- z\n", "a:\n- y\n- z\n- w\n", f"a:{SET}\n- x\n- z\n", f"a:{SET}\n- y\n- z\n- w\n"),
        ("a: [x]\n", "a: [y, z]\n", f"a: [x]{SET}\n", f"a: [y, z]{SET}\n"),
        ("- a: 2\n- a: 3\n", "- a: 7\n- a: 8\n", f"- a: 2\n- a: 3{SET}\n", f"- a: 7\n- a: 8{SET}\n"),
        ("a: 2\n---\na: 2\n", "a: 2\n---\na: 7\n", f"a: 2{SET}\n---\na: 2{SET}\n", f"a: 2{SET}\n---\na: 7{SET}\n"),
    ],
)
def test_a_value_stays_with_the_comment_of_the_other_side(base: str, ours: str, theirs: str, merged: str) -> None:
    sides = (text.encode() for text in (base, ours, theirs))
    assert onefile.merge("a.yaml", *sides, "", "2.0") == (merged.encode(), [])


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("a: 2\n", "a: 7\n", f"a: 3{SET}\n"),
        ("a: 2\n", "a: 7 # mine\n", f"a: 2{SET}\n"),
        ("a: 2\n", "", f"a: 2{SET}\n"),
        ("a:\n- x\n- y\n", "a:\n- z\n", f"a:\n- x{SET}\n- y{SET}\n"),
        ("a: |\n  x # one\n", "a: |\n  y # one\n", "a: |\n  x # two\n"),
    ],
)
@pytest.mark.parametrize("decision", ["ours", "theirs"])
def test_what_both_sides_changed_is_a_conflict_that_leaves_each_as_it_is(
    base: str, ours: str, theirs: str, decision: str
) -> None:
    merged, conflicts = onefile.merge("a.yaml", base.encode(), ours.encode(), theirs.encode(), decision, "2.0")
    assert conflicts
    assert merged == {"ours": ours, "theirs": theirs}[decision].encode()
