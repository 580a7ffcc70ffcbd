"""Blocks with one name are one block in all bases, and each overlay says what it is."""

from __future__ import annotations

import pytest

import real
from packyard.writing.checks import shared_parts

CONFINED = """\
spec:
  securityContext: &confined
    allowPrivilegeEscalation: false
    runAsUser: 1000 # {"$openapi":"USER_ID"}
    capabilities: {drop: [ALL]}
  labels: &labels {a: b}
  volumes: &volumes
  - {name: tmp, emptyDir: {}}
  - {name: home, emptyDir: {}}
"""


def judged(other: str) -> list[str]:
    bases = {"bases/a/job.yaml": CONFINED.encode(), "bases/b/job.yaml": other.encode()}
    return [f"{each.file}:{each.line} {each.rule}" for each in shared_parts.check(bases, {})]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("Escalation: false", "Escalation: true", 2),
        ("    allowPrivilegeEscalation: false\n", "", 2),
        ("drop: [ALL]", "drop: [ALL, NET_RAW]", 2),
        (' # {"$openapi":"USER_ID"}', "", 2),
        ("USER_ID", "OTHER_ID", 2),
        ("1000", '"1000"', 2),
        ("{a: b}", "{a: c}", 6),
        ("home, emptyDir: {}", "home, emptyDir: {medium: Memory}", 7),
    ],
)
def test_blocks_with_one_name_that_differ_are_found_by_their_place(old: str, new: str, line: int) -> None:
    assert old in CONFINED
    assert judged(CONFINED.replace(old, new)) == [f"bases/b/job.yaml:{line} anchors-differ"]


def test_a_part_that_cannot_be_read_is_found() -> None:
    assert [each.rule for each in shared_parts.check({"a.yaml": b"a: *b\n"}, {})] == ["unreadable"]


def test_the_parts_of_this_repository_have_no_findings() -> None:
    def found(pattern: str) -> dict[str, bytes]:
        files = real.REPOSITORY.glob(pattern)
        return {str(file.relative_to(real.REPOSITORY)): file.read_bytes() for file in files}

    bases, overlays = found("bases/**/*.yaml"), found("overlays/*/*/kustomization.yaml")
    assert bases
    assert overlays
    assert [str(each) for each in shared_parts.check(bases, overlays)] == []
