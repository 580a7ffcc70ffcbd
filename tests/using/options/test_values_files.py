"""`packyard set -f`: values and options of files in unpacked packages, what stays, and all of it or nothing."""

import json
from pathlib import Path

import pytest

import reading
import tiny
from tiny import inside
from using.commands import refused
from using.options import optioned

SITE = """\
# What all packages get here.
options: [queue, spread]
PVC_NAME: team-data
QUEUE_NAME: team-a
SPREAD_ELSE: DoNotSchedule
WORKERS: 4
NFS_SERVER: 10.0.0.5
"""


@pytest.fixture
def mlops(tmp_path: Path) -> Path:
    """The folder of use cases, with a file beside the package and two files in it."""
    tiny.write(tmp_path / "site.yaml", SITE)
    root = optioned.package(tmp_path)
    tiny.write(root / "presets/large.yaml", "# Large.\nWORKERS: 16\n")
    tiny.write(root / "presets/small.yaml", "# Small.\nWORKERS: 1\n")
    return root / optioned.PREFIX


def site(text: str, mlops: Path) -> None:
    tiny.write(mlops.parents[2] / "site.yaml", text)


def apply(mlops: Path, *words: str, code: int = 0) -> tuple[str, str]:
    """Write the file beside the package into it, and return what is printed."""
    process = inside("set", *words, "-f", f"{mlops.parents[2]}/site.yaml", cwd=mlops)
    assert process.returncode == code, process.stderr
    return process.stdout, process.stderr


def values(mlops: Path, directory: str) -> dict[str, str]:
    listed = json.loads(tiny.done("setters", directory, "-o", "json", cwd=mlops))
    return {row["name"]: row["value"] for part in listed for row in part["setters"]}


def test_gives_a_use_case_options_and_their_values(mlops: Path) -> None:
    out, err = apply(mlops, "multi-node/claim", "--keep")
    assert out.startswith("enabled queue, spread\n")
    assert "\nQUEUE_NAME default → team-a (1 field)\n" in out
    assert "no use case here has: NFS_SERVER\n" in err
    assert values(mlops, "multi-node/claim") == {
        "IMAGE": "example.com/train:1",
        "PVC_NAME": "team-data",
        "RUN_NAME": "run",
        "WORKERS": "4",
        "QUEUE_NAME": "team-a",
        "SPREAD_ELSE": "DoNotSchedule",
    }
    assert values(mlops, "single-node/claim")["PVC_NAME"] == ""
    assert "parameter 'NFS_SERVER' is in no package" in apply(mlops, "multi-node/claim", code=1)[1]


def test_twice_is_once_and_one_undo_takes_all_of_it_back(mlops: Path) -> None:
    before = reading.files(mlops)
    apply(mlops, ".", "-R", "--keep")
    after = reading.files(mlops)
    assert {path for path in after if after[path] != before[path]} >= {
        "single-node/claim/kustomization.yaml", "multi-node/claim/kustomization.yaml", "volume/claim.yaml",
        "options/Krmfile", "options/queue/queue.yaml", "options/spread/mpi-job.yaml",
    }  # fmt: skip
    apply(mlops, ".", "-R", "--keep")
    assert reading.files(mlops) == after
    tiny.done("undo", ".", cwd=mlops)
    assert reading.files(mlops) == before


def test_what_somebody_set_or_edited_stays_with_keep_alone(mlops: Path) -> None:
    site("options: [queue]\nPVC_NAME: team-data\nQUEUE_NAME: team-a\nWORKERS: 4\n", mlops)
    tiny.done("set", "multi-node/claim", "WORKERS=9", cwd=mlops)
    assert tiny.done("set", "multi-node/claim", "WORKERS=9", cwd=mlops) == "WORKERS is 9 already\n"
    tiny.done("enable", "single-node/claim", "queue", cwd=mlops)
    tiny.done("set", "single-node/claim", "QUEUE_NAME=mine", "--set-by", "jane", cwd=mlops)
    tiny.replace(mlops / "volume/Krmfile", 'value: "workdisk"', 'value: "by-hand"')
    _, err = apply(mlops, ".", "-R", "--keep")
    assert "set already: QUEUE_NAME, WORKERS\n" in err
    assert values(mlops, "multi-node/claim")["WORKERS"] == "9"
    assert values(mlops, "options")["QUEUE_NAME"] == "mine"
    assert values(mlops, "volume")["PVC_NAME"] == "by-hand"
    apply(mlops, ".", "-R")
    assert values(mlops, "multi-node/claim")["WORKERS"] == "4"
    assert values(mlops, "options")["QUEUE_NAME"] == "team-a"
    assert values(mlops, "volume")["PVC_NAME"] == "team-data"


def test_an_option_that_fits_nowhere_is_refused_and_with_keep_named(mlops: Path) -> None:
    site("options: [dataset-bucket, queue, dataset-claim]\nSPREAD_ELSE: DoNotSchedule\n", mlops)
    reason = "option 'dataset-claim' cannot be used together with 'dataset-bucket'"
    assert reason in refused(mlops, "set", "single-node/claim", "-f", f"{mlops.parents[2]}/site.yaml")
    assert reason in apply(mlops, "single-node/claim", "--keep")[1]
    lines = (mlops / "single-node/claim/kustomization.yaml").read_text()
    assert lines.endswith("components:\n- ../../options/dataset-bucket\n- ../../options/queue\n")
    assert values(mlops, "options")["SPREAD_ELSE"] == "ScheduleAnyway"


def test_what_is_refused_leaves_options_off_too(mlops: Path) -> None:
    site("options: [queue]\nPVC_NAME: fine\nWORKERS: many\nQUEUE_NAME: [a, b]\n", mlops)
    err = refused(mlops, "set", ".", "-R", "-f", f"{mlops.parents[2]}/site.yaml")
    assert "WORKERS takes a whole number, not 'many'" in err
    assert "QUEUE_NAME takes one value, not 2" in err
    for text in ("queue", "{a: b}", "[a, {b: c}]"):  # what is no list of names
        site(f"options: {text}\n", mlops)
        assert "site.yaml:1: options " in refused(mlops, "set", ".", "-R", "-f", f"{mlops.parents[2]}/site.yaml")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("presets/lareg.yaml", "presets/lareg.yaml: no such file (did you mean 'presets/large.yaml'?)"),
        ("zzz", "zzz: no such file (the package has presets/large.yaml, presets/small.yaml)"),
        ("presets/linked.yaml", "presets/linked.yaml: no such file"),
        ("../presets/large.yaml", "../presets/large.yaml: no such file"),
    ],
)
def test_a_file_that_is_not_here_is_refused_with_those_that_the_package_has(
    mlops: Path, name: str, expected: str
) -> None:
    (mlops.parents[1] / "presets/linked.yaml").symlink_to("/etc/passwd")
    assert expected in refused(mlops, "set", "multi-node/claim", "-f", name)
    (mlops.parents[1] / "presets").rename(mlops.parent / "elsewhere")
    (mlops.parents[1] / "presets").symlink_to(mlops.parent / "elsewhere")
    refused(mlops, "set", "multi-node/claim", "-f", "presets/large.yaml")


def test_a_value_of_an_option_that_is_not_enabled_is_passed_over_by_all_that_read_the_file(mlops: Path) -> None:
    site("options: [queue]\nPVC_NAME: team-data\nS3_BUCKET: b-1\nQUEUE_NAME: team-a\n", mlops)
    tiny.replace(mlops / "options/Krmfile", 'name: S3_BUCKET, value: ""', 'name: S3_BUCKET, value: "example.com"')
    note = "S3_BUCKET is a parameter of the option 'dataset-bucket', which is not enabled: passed over"
    note += " (IMAGE stays example.com/train:1)\n"
    file = f"{mlops.parents[2]}/site.yaml"
    for verb in ("render", "diff multi-node/claim"):
        process = inside(*verb.split(), "single-node/claim", "-f", file, cwd=mlops)
        assert (process.returncode, note in process.stderr) == (0, True), process.stderr
    tiny.done("set", "single-node/claim", "PVC_NAME=mine", cwd=mlops)
    _, err = apply(mlops, "single-node/claim", "--keep")
    assert err.startswith(f"{note}set already: PVC_NAME\n")
    assert note in apply(mlops, "single-node/claim")[1]
    refused(mlops, "set", "single-node/claim", "S3_BUCKET=b-1", "-f", file)
    site("options: [queue]\nS3_BUKCET: b-1\n", mlops)
    assert "site.yaml:2: parameter 'S3_BUKCET' is" in apply(mlops, "single-node/claim", code=1)[1]
    site("options: [dataset-bucket]\nS3_BUCKET: b-1\n", mlops)
    assert "passed over" not in apply(mlops, "single-node/claim")[1]


def test_what_a_use_case_and_an_option_have_is_told_once_behind_what_was_set(mlops: Path) -> None:
    for file in ("options/Krmfile", "options/queue/queue.yaml"):
        tiny.write(mlops / file, (mlops / file).read_text().replace("QUEUE_NAME", "RUN_NAME"))
    site("RUN_NAME: r\n", mlops)
    _, err = apply(mlops, ".", "-R")
    assert err == "RUN_NAME is set in 2 packages, and for the option 'queue', which no use case here has enabled\n"


def test_names_behind_unset_are_told_how_to_be_given(mlops: Path) -> None:
    for names in (["RUN_NAME"], ["RUN_NAME", "IMAGE"]):
        typed = " ".join(f"--unset {name}" for name in ("PVC_NAME", *names))
        err = inside("set", "single-node/claim", "--unset", "PVC_NAME", *names, cwd=mlops).stderr
        assert f"--unset takes one name; type packyard set single-node/claim {typed}" in err


def test_a_name_whose_words_one_setter_has_is_told_with_its_option(mlops: Path) -> None:
    tiny.replace(mlops / "options/Krmfile", "What S3_BUCKET is.", "Name of the bucket with data.")
    err = refused(mlops, "set", "single-node/claim", "DATA_BUCKET=b")
    assert "(did you mean 'S3_BUCKET' of the option 'dataset-bucket'?)" in err
