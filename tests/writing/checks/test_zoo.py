"""The defects of nine real packages: each is found at its file and line, and nothing else is found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from packyard.core.kubernetes import schemas as judges
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint
from writing.checks import practicerules

TRAINING = "resnet50v1_5__training__fp32__"
WIDE_DEEP = "wide_deep_large_ds__training__fp32__"

#: Rules of files that only their authors read: what a set would write otherwise, and defaults that are written out.
LAYOUT = ("rewritten", "default-written-out")
#: Every finding but those of rule required-but-set, of layout and of good practice, which are counted below.
EXPECTED = {
    "resnet50v1_5__inference__fp32__serving": "config-map.yaml:6 unresolved-comment",
    TRAINING + "multi-node__user-allocated-pvc": """
        Krmfile:161 unused-definition
        config-map.yaml:13 unresolved-comment
        mpi-job.yaml:13 reference-left-behind
        mpi-job.yaml:22 pod-field-in-container
        mpi-job.yaml:88 reference-left-behind
        mpi-job.yaml:97 pod-field-in-container""",
    TRAINING + "multi-node__user-mounted-nfs": """
        config-map.yaml:13 unresolved-comment
        mpi-job.yaml:14 reference-left-behind
        mpi-job.yaml:23 pod-field-in-container
        mpi-job.yaml:90 reference-left-behind
        mpi-job.yaml:99 pod-field-in-container""",
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


#: How often each package breaks a rule of good practice: no labels, no limits, as root, moving tags, bare pods, …
_POD = {
    "no-labels": 3,
    "unexpanded-variable": 2,
    "sidecar": 1,
    "token-mounted": 1,
    "untyped-host-path": 1,
    "bare-pod": 1,
}
PRACTICE = {
    "resnet50v1_5__inference__fp32__serving": {
        **dict.fromkeys(("token-mounted", "untyped-host-path", "no-resources", "runs-as-root", "moving-tag"), 1),
        "no-labels": 4,
    },
    **{
        TRAINING + f"multi-node__{storage}": {
            **dict.fromkeys(("sidecar", "token-mounted", "untyped-host-path"), 2),
            **dict.fromkeys(("moving-tag", "no-resources", "runs-as-root", "unexpanded-variable"), 2),
            "no-labels": 4,
        }
        for storage in ("user-allocated-pvc", "user-mounted-nfs")
    },
    **{
        name: {**_POD, **dict.fromkeys(("moving-tag", "no-resources", "runs-as-root"), count)}
        for storage in ("user-allocated-pvc", "user-mounted-nfs")
        for name, count in ((TRAINING + f"single-node__{storage}", 1), (WIDE_DEEP + f"single-node__{storage}", 3))
    },
    **{
        WIDE_DEEP + f"pipeline__{storage}": {
            **dict.fromkeys(("untyped-host-path", "token-mounted"), 1),
            **dict.fromkeys(("no-resources", "runs-as-root", "unexpanded-variable", "moving-tag"), 2),
            "no-labels": 8,  # three of the objects that the workflow creates
        }
        for storage in ("user-allocated-pvc", "user-mounted-nfs")
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_what_is_no_good_practice(corpus: Path, name: str) -> None:
    found = Counter(finding.rule for finding in lint(read(corpus, name)) if finding.rule in practicerules.RULES)
    assert found == PRACTICE[name]


#: How often each package breaks a rule of what its values, ports, volumes and rights do together.
_TRAINING = {"above-baseline": 1, "namespace-default": 1, "two-purposes": 1}
_SINGLE = {
    "user-allocated-pvc": {**_TRAINING, "one-value-two-places": 1},
    "user-mounted-nfs": {**_TRAINING, "one-value-two-places": 2, "fs-group-without-effect": 1},
}
_MULTI = {**_TRAINING, "above-baseline": 2, "mpirun-as-root": 1, "process-count": 1}
_PIPELINE = {
    **dict.fromkeys(("above-restricted", "broad-role", "crossed-port", "no-readiness-probe", "port-not-told"), 1),
    **dict.fromkeys(("role-without-effect", "same-description", "workflow-cannot-report"), 1),
    **_TRAINING,
    "fs-group-without-effect": 2,
}
TOGETHER = {
    "resnet50v1_5__inference__fp32__serving": {
        **dict.fromkeys(("above-baseline", "crossed-port", "forgotten-field", "fs-group-without-effect"), 1),
        **dict.fromkeys(("host-path-of-many", "namespace-default", "no-readiness-probe", "port-not-told"), 1),
    },
    TRAINING + "multi-node__user-allocated-pvc": {**_MULTI, "one-value-two-places": 2, "same-description": 1},
    TRAINING + "multi-node__user-mounted-nfs": {**_MULTI, "one-value-two-places": 4},
    **{name + f"single-node__{storage}": _SINGLE[storage] for name in (TRAINING, WIDE_DEEP) for storage in _SINGLE},
    WIDE_DEEP + "pipeline__user-allocated-pvc": {**_PIPELINE, "one-value-two-places": 1},
    WIDE_DEEP + "pipeline__user-mounted-nfs": {**_PIPELINE, "one-value-two-places": 3},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_what_does_not_work_together(corpus: Path, name: str) -> None:
    found = Counter(finding.rule for finding in lint(read(corpus, name)) if finding.rule in practicerules.OTHERS)
    assert found == TOGETHER[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_every_required_setter_that_ships_as_set(corpus: Path, name: str) -> None:
    package = read(corpus, name)
    found = [finding.line for finding in lint(package) if finding.rule == "required-but-set"]
    lines = package.krmfile.decode().splitlines()
    assert len(found) == sum(line.strip() == "required: true" for line in lines) > 0
    assert {lines[line - 1].strip() for line in found} == {"isSet: true"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_user_may_set_what_is_required(corpus: Path, name: str) -> None:
    rules = {finding.rule for finding in lint(read(corpus, name), shipped=False)}
    assert "required-but-set" not in rules


#: What schemas find besides: kinds that no operator serves now, and fields at the wrong depth.
BY_SCHEMA = {
    TRAINING + "multi-node__user-allocated-pvc": ["mpi-job.yaml:1:1 unserved-kind"],
    TRAINING + "multi-node__user-mounted-nfs": ["mpi-job.yaml:1:1 unserved-kind"],
    WIDE_DEEP + "pipeline__user-allocated-pvc": [
        "train_and_serve.yaml:53:22 wrong-type",
        "train_and_serve.yaml:54:9 unknown-field",
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_what_the_schemas_have_against_it_and_nothing_else(corpus: Path, name: str) -> None:
    without = lint(read(corpus, name))
    found = [finding for finding in lint(read(corpus, name), judges=judges.choose()) if finding not in without]
    places = [f"{finding.file}:{finding.line}:{finding.column} {finding.rule}" for finding in found]
    assert places == BY_SCHEMA.get(name, [])


def test_findings_name_the_very_column(corpus: Path) -> None:
    found = {(finding.file, finding.line): finding for finding in lint(read(corpus, next(iter(EXPECTED))))}
    assert str(found["config-map.yaml", 6]) == (
        "config-map.yaml:6:14: error: the comment refers to setter or substitution FS_ID_VALUE, which is not defined: "
        "the field never changes [unresolved-comment] (define it in the Krmfile, or remove the comment)"
    )
    wide_deep = {
        (finding.file, finding.line): finding.column
        for finding in lint(read(corpus, WIDE_DEEP + "pipeline__user-allocated-pvc"))
    }
    assert wide_deep["Krmfile", 298] == 5
    assert wide_deep["train_and_serve.yaml", 50] == 16
    assert wide_deep["train_and_serve.yaml", 53] == 9
