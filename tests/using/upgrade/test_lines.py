"""Texts merged by lines: what clashes, what does not, and what git makes of the same."""

import random
import subprocess
from pathlib import Path

import pytest

from packyard.using.upgrade import lines, onefile
from packyard.using.upgrade.lines import Clash
from sample import tries

TEXTS = min(tries(100), 3000)


def merged(base: str, ours: str, theirs: str, decision: str = "") -> str:
    texts = ("".join(f"{line}\n" for line in text.split()).encode() for text in (base, ours, theirs))
    found = lines.merge(*texts)
    assert decision or not lines.clashes(found)
    return " ".join(lines.decided(found, decision, "2.0").decode().split("\n")).strip()


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "after"),
    [
        ("a b c d e", "a B c d e", "a b c D e", "a B c D e"),
        ("a b c", "a b c d", "z a b c", "z a b c d"),
        ("a b c", "a c", "a b c d", "a c d"),
        ("a b c", "a X c", "a X c", "a X c"),
        ("", "a b", "a b", "a b"),
        ("a b b c", "a b b b c", "a b b b c", "a b b b c"),
        ("a x x x b c", "a x x b c", "a x x b C", "a x x b C"),
        ("c b a a c a c b b c c", "c b a a c a c c b b c c", "c b a a a c a c c b b c c", "c b a a a c a c c b b c c"),
    ],
)
def test_merges_what_each_side_changed(base: str, ours: str, theirs: str, after: str) -> None:
    assert merged(base, ours, theirs) == after


def test_lines_that_both_changed_clash_also_where_they_only_touch() -> None:
    for base, ours, theirs in (
        ("a b c", "a X c", "a Y c"),
        ("a b c d", "a X c d", "a b Y d"),
        ("a b", "a X b", "a Y b"),
    ):
        texts = ["".join(f"{line}\n" for line in text.split()).encode() for text in (base, ours, theirs)]
        (clash,) = lines.clashes(lines.merge(*texts))
        assert clash.line == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "after"),
    [
        (b"a: 2\n", b"a: 1 # C\n", b"a: 2 # C\n"),
        (b"a: 1  # D\n", b"a: x\n", b"a: x  # D\n"),
        (b"a: 2", b"a: 1 # C\n", b""),
        (b"a: 2 # B\n", b"a: 1 # C\n", b""),
        (b"a: 2\nb: 1\n", b"a: 1 # C\n", b""),
    ],
)
def test_a_line_of_yaml_and_its_comment_are_merged(ours: bytes, theirs: bytes, after: bytes) -> None:
    data, conflicts = onefile.merge("a.yaml", b"a: 1\n", ours, theirs, "", "2.0")
    assert (data, conflicts) == (after, []) if after else conflicts
    assert onefile.merge("README.md", b"a: 1\n", ours, theirs, "", "2.0")[1]


def test_a_clash_is_placed_in_ours_and_is_decided() -> None:
    found = lines.merge(b"a\nb\nc\nd\n", b"new\na\nb\nc\nX\n", b"a\nb\nc\nY\n")
    assert lines.clashes(found) == [Clash(5, [b"X\n"], [b"Y\n"])]
    assert lines.decided(found, "ours", "2.0") == b"new\na\nb\nc\nX\n"
    assert lines.decided(found, "theirs", "2.0") == b"new\na\nb\nc\nY\n"
    both = b"new\na\nb\nc\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> 2.0\n"
    assert lines.decided(found, "markers", "2.0") == both


def test_texts_of_many_equal_lines_take_no_time() -> None:
    same = b"x\n" * 20_000
    (clash,) = lines.clashes(lines.merge(same, b"a\n" + same + b"a\n" + same + b"a\n", b"b\n" + same + b"b\n"))
    assert clash.line == 1


def test_merges_random_texts_as_git_does(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(TEXTS):
        alphabet = [f"line {number}\n" for number in range(chance.choice((20, 50, 200)))]
        base = [chance.choice(alphabet) for _ in range(chance.randrange(25))]
        texts = ["".join(each).encode() for each in (base, *(changed(chance, base, alphabet) for _ in range(2)))]
        for name, data in zip(("base", "ours", "theirs"), texts, strict=True):
            (tmp_path / name).write_bytes(data)
        command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
        git = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        found = lines.merge(*texts)
        if git.returncode == 0 and not lines.clashes(found):  # of lines that repeat, either may find that they clash
            assert lines.decided(found, "", "") == git.stdout, texts


def changed(chance: random.Random, base: list[str], alphabet: list[str]) -> list[str]:
    lines = list(base)
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(lines) + 1)
        lines[place : place + chance.randrange(2)] = [chance.choice(alphabet)] * chance.randrange(2)
    return lines


def test_a_file_that_was_removed_stays_away() -> None:
    assert onefile.merge("a", b"1", None, b"1", "", "2.0") == (None, [])
    assert onefile.merge("a", b"1", b"1", None, "", "2.0") == (None, [])
