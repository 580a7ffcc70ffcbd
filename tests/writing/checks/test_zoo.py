"""The defects of nine real packages: each is found at its file and line, and nothing else is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint
from writing.checks import practicerules

TRAINING = "resnet50v1_5__training__fp32__"
WIDE_DEEP = "wide_deep_large_ds__training__fp32__"

#: Rules of files that only their authors read: what a set would write otherwise.
LAYOUT = ("rewritten",)
#: Every finding but those of rule required-but-set, of layout and of good practice, which are counted below.
EXPECTED = {
    "resnet50v1_5__inference__fp32__serving": "config-map.yaml:6 unresolved-comment",
    TRAINING + "multi-node__user-allocated-pvc": """
        Krmfile:161 unused-definition
        config-map.yaml:13 unresolved-comment
        mpi-job.yaml:13 reference-left-behind
        mpi-job.yaml:88 reference-left-behind""",
    TRAINING + "multi-node__user-mounted-nfs": """
        config-map.yaml:13 unresolved-comment
        mpi-job.yaml:14 reference-left-behind
        mpi-job.yaml:90 reference-left-behind""",
    TRAINING + "single-node__user-allocated-pvc": """
        Krmfile:162 unused-definition
        config-map.yaml:13 unresolved-comment
        pod.yaml:17 comment-does-not-fit""",
    TRAINING + "single-node__user-mounted-nfs": """
        config-map.yaml:7 unresolved-comment
        config-map.yaml:13 unresolved-comment
        pod.yaml:17 comment-does-not-fit""",
    WIDE_DEEP + "pipeline__user-allocated-pvc": """
        Krmfile:131 unused-definition
        Krmfile:298 unused-definition
        config-map.yaml:14 unresolved-comment
        train_and_serve.yaml:4 unresolved-comment
        train_and_serve.yaml:23 unresolved-comment
        train_and_serve.yaml:25 unresolved-comment
        train_and_serve.yaml:50 comment-does-not-fit
        train_and_serve.yaml:53 empty-reference
        train_and_serve.yaml:60 unresolved-comment
        train_and_serve.yaml:70 unresolved-comment
        train_and_serve.yaml:71 unresolved-comment
        train_and_serve.yaml:74 created-once
        train_and_serve.yaml:120 created-once
        train_and_serve.yaml:143 no-such-port""",
    WIDE_DEEP + "pipeline__user-mounted-nfs": """
        Krmfile:131 unused-definition
        config-map.yaml:14 unresolved-comment
        train_and_serve.yaml:4 unresolved-comment
        train_and_serve.yaml:50 comment-does-not-fit
        train_and_serve.yaml:74 created-once
        train_and_serve.yaml:120 created-once
        train_and_serve.yaml:143 no-such-port""",
    WIDE_DEEP + "single-node__user-allocated-pvc": """
        Krmfile:131 unused-definition
        Krmfile:140 unused-definition
        config-map.yaml:7 unresolved-comment
        config-map.yaml:14 unresolved-comment
        pod.yaml:49 comment-does-not-fit
        pod.yaml:50 value-disagrees""",
    WIDE_DEEP + "single-node__user-mounted-nfs": """
        config-map.yaml:7 unresolved-comment
        config-map.yaml:14 unresolved-comment
        pod.yaml:49 comment-does-not-fit
        pod.yaml:50 value-disagrees""",
}


def read(corpus: Path, name: str) -> PackageFiles:
    files = json.loads((corpus / "zoo" / f"{name}.json").read_text("utf-8"))["before"]
    resources = {path: text.encode() for path, text in files.items() if path.endswith(".yaml")}
    return PackageFiles(files["Krmfile"].encode(), resources)


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_the_known_defects_and_nothing_else(corpus: Path, name: str) -> None:
    counted = {"required-but-set", "name-without-limit", *LAYOUT, *practicerules.RULES, *practicerules.OTHERS}
    found = [finding for finding in lint(read(corpus, name)) if finding.rule not in counted]
    expected = [line.strip() for line in EXPECTED[name].splitlines() if line.strip()]
    assert [f"{finding.file}:{finding.line} {finding.rule}" for finding in found] == expected
