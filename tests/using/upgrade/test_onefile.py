"""Krmfiles merged by their definitions: which are kept, which go, and in what order."""

from __future__ import annotations

import pytest

from packyard.using.upgrade import lines, onefile

_HEAD = "kind: Krmfile\nopenAPI:\n  definitions:\n"


def krmfile(text: str, tail: str = "rules: []\n") -> bytes:
    """Write a Krmfile with setters and their values: ``A=1 B=2``."""
    pairs = [pair.partition("=") for pair in text.split()]
    form = "    io.k8s.cli.setters.{}:\n      x-k8s-cli:\n        setter:\n          name: {}\n          value: {}\n"
    return (_HEAD + "".join(form.format(name, name, value) for name, _, value in pairs) + tail).encode()


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "after"),
    [
        ("A=1 B=2", "A=1 B=2 MINE=3", "A=1 NEW=4 B=2", "A=1 NEW=4 B=2 MINE=3"),
        ("A=1 B=2", "A=1 MINE=3 B=2", "NEW=4 A=1", "NEW=4 A=1 MINE=3"),
        ("A=1 B=2", "B=2", "A=1 B=5", "B=5"),
        ("A=1 B=2 C=3", "A=9 B=2 C=3", "C=3 A=1", "C=3 A=9"),
        ("A=1", "A=1 N=2", "A=1 N=2", "A=1 N=2"),
    ],
)
def test_merges_definition_by_definition(base: str, ours: str, theirs: str, after: str) -> None:
    found = onefile.merge_krmfile(krmfile(base), krmfile(ours, "rules: [mine]\n"), krmfile(theirs))
    assert not lines.clashes(found)
    assert lines.decided(found, "", "") == krmfile(after, "rules: [mine]\n")


def test_a_definition_that_one_side_removed_and_the_other_changed_is_a_clash_of_its_own() -> None:
    found = onefile.merge_krmfile(krmfile("A=1 B=2 C=3"), krmfile("A=1 B=9 C=3"), krmfile("A=1 D=2 C=3"))
    (clash,) = lines.clashes(found)
    assert (clash.line, len(clash.ours), clash.theirs) == (9, 5, [])
    for decision, after in (("ours", "A=1 B=9 D=2 C=3"), ("theirs", "A=1 D=2 C=3")):
        texts = krmfile("A=1 B=2 C=3"), krmfile("A=1 B=9 C=3"), krmfile("A=1 D=2 C=3")
        assert onefile.merge("run/Krmfile", *texts, decision, "2.0")[0] == krmfile(after)


def test_a_file_that_was_removed_stays_away() -> None:
    assert onefile.merge("a", b"1", None, b"1", "", "2.0") == (None, [])
    assert onefile.merge("a", b"1", b"1", None, "", "2.0") == (None, [])


@pytest.mark.parametrize("text", ["kind: Krmfile\n", "openAPI: {definitions: {a: {}, b: {}}}\n", "broken: [\n", "a: 1"])
def test_what_cannot_be_parted_is_merged_by_lines(text: str) -> None:
    found = onefile.merge_krmfile(text.encode(), text.encode(), b"kind: Other\n")
    assert lines.decided(found, "", "") == b"kind: Other\n"
