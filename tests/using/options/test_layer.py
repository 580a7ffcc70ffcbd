"""A site's values in unpacked packages: what they reach, what stays, and all of it or nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import reading
import tiny
from tiny import inside
from using.options import optioned

SITE = """\
options: [queue, spread]
values:
  PVC_NAME: team-data
  QUEUE_NAME: team-a
  SPREAD_ELSE: DoNotSchedule
  WORKERS: 4
  NFS_SERVER: 10.0.0.5
"""


@pytest.fixture
def mlops(tmp_path: Path) -> Path:
    tiny.write(tmp_path / "site.yaml", SITE)
    return optioned.package(tmp_path) / optioned.PREFIX


def site(text: str, mlops: Path) -> None:
    tiny.write(mlops.parents[2] / "site.yaml", text)


def apply(mlops: Path, *words: str, code: int = 0) -> tuple[str, str]:
    """Write the site's file into the package, and return what is printed."""
    process = inside("set", *words, f"--site={mlops.parents[2]}/site.yaml", cwd=mlops)
    assert process.returncode == code, process.stderr
    return process.stdout, process.stderr


def refused(mlops: Path, *words: str) -> str:
    before = reading.files(mlops)
    _, err = apply(mlops, *words, code=1)
    assert reading.files(mlops) == before
    return err


def done(mlops: Path, *words: str) -> str:
    process = inside(*words, cwd=mlops)
    assert process.returncode == 0, process.stderr
    return process.stdout


def found(mlops: Path, directory: str) -> dict[str, tuple[str, str]]:
    """Return value and origin of each setter."""
    listed = json.loads(done(mlops, "setters", directory, "-o", "json"))
    return {row["name"]: (row["value"], row["setBy"] or row["set"]) for part in listed for row in part["setters"]}


def test_gives_a_use_case_options_and_their_values_and_records_who_set_them(mlops: Path) -> None:
    out, _ = apply(mlops, "multi-node/claim")
    assert "multi-node/claim/kustomization.yaml: enabled queue, spread\n" in out
    assert "options/queue/queue.yaml:6: " in out
    assert found(mlops, "multi-node/claim") == {
        "IMAGE": ("example.com/train:1", False),
        "PVC_NAME": ("team-data", "site"),
        "RUN_NAME": ("run", False),
        "WORKERS": ("4", "site"),
        "QUEUE_NAME": ("team-a", "site"),
        "SPREAD_ELSE": ("DoNotSchedule", "site"),
    }
    assert found(mlops, "single-node/claim")["PVC_NAME"] == ("", False)
    assert "origin   set by site\n" in done(mlops, "explain", "multi-node/claim", "WORKERS")
    assert "origin   shipped\n" in done(mlops, "explain", "multi-node/claim", "RUN_NAME")
    assert "by site" in done(mlops, "setters", "multi-node/claim")


def test_twice_is_once_and_one_undo_takes_all_of_it_back(mlops: Path) -> None:
    before = reading.files(mlops)
    apply(mlops, ".", "-R")
    after = reading.files(mlops)
    assert {path for path in after if after[path] != before[path]} >= {
        "single-node/claim/kustomization.yaml", "multi-node/claim/kustomization.yaml", "volume/claim.yaml",
        "options/Krmfile", "options/queue/queue.yaml", "options/spread/mpi-job.yaml",
    }  # fmt: skip
    apply(mlops, ".", "-R")
    assert reading.files(mlops) == after
    done(mlops, "undo", ".")
    assert reading.files(mlops) == before


def test_a_dry_run_writes_nothing_and_prints_what_patch_makes_of_it(mlops: Path, tmp_path: Path) -> None:
    before = reading.files(mlops)
    out, _ = apply(mlops, ".", "-R", "--dry-run")
    assert reading.files(mlops) == before
    copy = tmp_path / "copy"
    shutil.copytree(mlops, copy)
    subprocess.run(["git", "apply", "-p1"], cwd=copy, input=out, text=True, check=True)
    apply(mlops, ".", "-R")
    assert reading.files(copy) == reading.files(mlops)


def test_what_somebody_set_or_edited_stays_and_is_named(mlops: Path) -> None:
    done(mlops, "set", "multi-node/claim", "WORKERS=9")
    done(mlops, "enable", "single-node/claim", "queue")
    done(mlops, "set", "single-node/claim", "QUEUE_NAME=mine", "--set-by", "jane")
    tiny.replace(mlops / "volume/Krmfile", 'value: "workdisk"', 'value: "by-hand"')
    _, err = apply(mlops, ".", "-R")
    assert "multi-node/claim/: WORKERS is set and stays 9; " in err
    assert "options/: QUEUE_NAME is set and stays mine; " in err
    assert "volume/: PVC_NAME was edited and stays by-hand; " in err
    assert f"{mlops.parents[2]}/site.yaml:6 has another value" in err
    assert found(mlops, "multi-node/claim")["WORKERS"] == ("9", True)
    assert found(mlops, "options")["QUEUE_NAME"] == ("mine", "jane")
    assert found(mlops, "volume")["PVC_NAME"] == ("by-hand", False)


def test_its_own_values_follow_the_file_until_they_are_given_back(mlops: Path) -> None:
    apply(mlops, "multi-node/claim")
    site("values: {WORKERS: 5}\n", mlops)
    apply(mlops, "multi-node/claim")
    assert found(mlops, "multi-node/claim")["WORKERS"] == ("5", "site")
    assert found(mlops, "multi-node/claim")["PVC_NAME"] == ("team-data", "site")
    done(mlops, "set", "multi-node/claim", "--unset", "WORKERS")
    assert found(mlops, "multi-node/claim")["WORKERS"] == ("2", False)


def test_an_option_that_fits_nowhere_is_named_with_the_reason(mlops: Path) -> None:
    site("options: [dataset-bucket, queue, dataset-claim]\nvalues: {SPREAD_ELSE: DoNotSchedule}\n", mlops)
    _, err = apply(mlops, "single-node/claim")
    assert "dataset-claim is not enabled: " in err
    assert "cannot be used together with 'dataset-bucket'" in err
    lines = (mlops / "single-node/claim/kustomization.yaml").read_text()
    assert lines.endswith("components:\n- ../../options/dataset-bucket\n- ../../options/queue\n")
    assert found(mlops, "options")["SPREAD_ELSE"] == ("ScheduleAnyway", False)


def test_a_value_that_is_refused_is_named_by_its_line_in_the_file_and_nothing_is_written(mlops: Path) -> None:
    site("options: [queue]\nvalues:\n  PVC_NAME: fine\n  WORKERS: many\n  QUEUE_NAME: [a, b]\n", mlops)
    err = refused(mlops, ".", "-R")
    assert f"{mlops.parents[2]}/site.yaml:4: WORKERS takes a whole number, not 'many'\n" in err
    assert f"{mlops.parents[2]}/site.yaml:5: QUEUE_NAME takes one value, not 2\n" in err
