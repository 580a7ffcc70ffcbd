"""Faults between use cases."""

from __future__ import annotations

import pytest

from packyard.core.work.memo import Memo
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import collisions
from packyard.writing.checks.parsed import parse

OBJECT = "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n"


def shared(*texts: str) -> list[str]:
    packages = [
        PackageFiles(b"kind: Krmfile\n", {"a.yaml": text.encode()}, f"p{index}/") for index, text in enumerate(texts)
    ]
    found = collisions.check([named for package in packages for named in collisions.names(parse(package, Memo()))])
    return [f"{each.file}:{each.line}:{each.column} {each.severity} {each.hint.partition(';')[0]}" for each in found]


JOB = OBJECT.format(version="batch/v1", kind="Job", name="run")


def test_finds_use_cases_that_overwrite_each_others_objects() -> None:
    assert shared(JOB, JOB.replace("run", "ran"), JOB, JOB) == [
        "p2/a.yaml:4:9 warning also at p0/a.yaml:4",
        "p3/a.yaml:4:9 warning also at p0/a.yaml:4",
    ]


@pytest.mark.parametrize(
    "other",
    [
        JOB.replace("run", "ran"),
        JOB.replace("Job", "CronJob"),
        JOB.replace("batch/v1", "example.com/v1"),
        JOB + "  namespace: mine\n",
        JOB.replace("run", "''"),
    ],
)
def test_other_objects_are_no_finding(other: str) -> None:
    assert shared(JOB, other) == []
