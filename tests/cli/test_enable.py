"""`packyard enable` and `disable` on the command line: messages, results, refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import optioned
import reading
import tiny
from running import done, packyard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return optioned.package(tmp_path) / optioned.SINGLE


def test_twice_is_once_and_undo_goes_back(folder: Path) -> None:
    before = reading.files(folder)
    first = packyard("enable", ".", "queue", cwd=folder)
    assert first.stdout == "kustomization.yaml\n"
    assert first.stderr == (
        ".: queue is enabled\nqueue has the values QUEUE_NAME (default); to set one: packyard set . QUEUE_NAME=VALUE\n"
    )
    after = reading.files(folder)
    again = packyard("enable", ".", "queue", cwd=folder)
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == ".: queue is enabled already, nothing changed\n"
    assert reading.files(folder) == after
    assert packyard("undo", cwd=folder).stderr == "undone: enable queue\n"
    assert reading.files(folder) == before
    nothing = packyard("disable", ".", "queue", cwd=folder)
    assert (nothing.returncode, nothing.stderr) == (0, ".: queue is disabled already, nothing changed\n")


def test_what_an_option_requires_is_said(folder: Path) -> None:
    story = packyard("enable", "dataset-bucket", cwd=folder).stderr
    assert "S3_BUCKET (required); to set one: packyard set . S3_BUCKET=VALUE" in story
    story = packyard("enable", "debug", cwd=folder).stderr
    assert "debug has no values to set; its file says what can be changed: ../../options/debug" in story


def test_a_dry_run_is_a_patch_there_and_back(folder: Path) -> None:
    before = reading.files(folder)
    there = done("enable", ".", "queue", "debug", "--dry-run", cwd=folder)
    assert reading.files(folder) == before
    done("enable", ".", "queue", "debug", cwd=folder)
    after = reading.files(folder)
    back = done("disable", ".", "queue", "debug", "--dry-run", cwd=folder)
    assert reading.files(folder) == after
    subprocess.run(["patch", "-p1", "-s"], cwd=folder, input=back, text=True, check=True)
    assert reading.files(folder) == before
    subprocess.run(["patch", "-p1", "-s"], cwd=folder, input=there, text=True, check=True)
    assert reading.files(folder) == after


def test_json_says_what_changed(folder: Path) -> None:
    (there,) = json.loads(done("enable", ".", "queue", "--output", "json", cwd=folder))
    assert there == {
        "directory": ".",
        "state": "enabled",
        "options": ["queue"],
        "already": [],
        "file": "kustomization.yaml",
        "setters": ["QUEUE_NAME"],
    }
    (back,) = json.loads(done("disable", ".", "queue", "debug", "--output", "json", cwd=folder))
    assert (back["state"], back["options"], back["already"]) == ("disabled", ["queue"], ["debug"])


def test_the_list_says_which_are_enabled_and_which_fit(folder: Path) -> None:
    done("enable", ".", "dataset-claim", cwd=folder)
    lines = done("enable", ".", "--wide", cwd=folder).splitlines()
    assert lines[0].split() == ["OPTION", "ENABLED", "FITS", "DESCRIPTION"]
    assert lines[2].split()[:3] == ["dataset-claim", "yes", "yes"]
    assert "excludes 'dataset-claim', which is enabled" in lines[1]
    listed = {item["option"]: item for item in json.loads(done("enable", ".", "--output", "json", cwd=folder))}
    assert sorted(listed) == optioned.NAMES
    assert {name for name, item in listed.items() if item["enabled"]} == {"dataset-claim"}
    assert {name for name, item in listed.items() if not item["fits"]} == {"dataset-bucket", "spread"}
    assert listed["dataset-bucket"]["setters"] == ["S3_BUCKET"]
    assert listed["queue"]["description"] == "The run waits in a queue of Kueue."
    assert all(len(line) <= 80 for line in done("enable", cwd=folder).splitlines())


def test_disable_needs_a_name(folder: Path) -> None:
    assert packyard("disable", ".", cwd=folder).returncode == 2


def test_lint_names_options_that_do_not_apply(folder: Path) -> None:
    done("enable", ".", "dataset-claim", cwd=folder)
    tiny.replace(folder / "job.yaml", "- name: training", "- name: mine")
    linted = packyard("lint", ".", cwd=folder)
    assert linted.returncode == 1
    assert "dataset-claim/kustomization.yaml:7:7: error: test failed: /spec/template/spec/containers/0/name" in (
        linted.stdout
    )


def test_a_package_of_the_older_form_gets_the_line_to_type(tmp_path: Path) -> None:
    tiny.write(tmp_path / "kustomization.yaml", "resources: [a.yaml]\n")
    tiny.write(tmp_path / "options/debug/kustomization.yaml", "kind: Component\n")
    tiny.write(tmp_path / "options/debug/Krmfile.option", "")
    refused = packyard("enable", ".", "debug", cwd=tmp_path)
    assert refused.returncode == 1
    assert "(cd . && kustomize edit add component options/debug)" in refused.stderr
    assert not (tmp_path / "Krmfile").exists()
