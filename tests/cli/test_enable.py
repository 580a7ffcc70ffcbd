"""`packyard enable` and `disable` as commands: what they say, what they show, what they refuse."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import reading
import real
from running import done, packyard

USE_CASE = real.REPOSITORY / "tests/source/cases/bert-large-fp32-training-k8s/multi-node/user-mounted-nfs"
POLICY = "network-policy"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(USE_CASE, tmp_path / "use-case")
    return tmp_path / "use-case"


def test_twice_is_once_and_undo_goes_back(folder: Path) -> None:
    before = reading.files(folder)
    assert done("enable", ".", POLICY, cwd=folder).split() == ["Krmfile", "kustomization.yaml", "network-policy.yaml"]
    after = reading.files(folder)
    again = packyard("enable", ".", POLICY, cwd=folder)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", ".: network-policy is enabled already\n")
    assert reading.files(folder) == after
    done("undo", cwd=folder)
    assert reading.files(folder) == before
    assert packyard("disable", ".", POLICY, cwd=folder).stderr == ".: network-policy is disabled already\n"


def test_a_dry_run_is_a_patch_there_and_back(folder: Path) -> None:
    before = reading.files(folder)
    there = done("enable", ".", POLICY, "--dry-run", cwd=folder)
    assert reading.files(folder) == before
    done("enable", ".", POLICY, cwd=folder)
    after = reading.files(folder)
    back = done("disable", ".", POLICY, "--dry-run", cwd=folder)
    assert reading.files(folder) == after
    subprocess.run(["patch", "-p1", "-s"], cwd=folder, input=back, text=True, check=True)
    assert reading.files(folder) == before
    subprocess.run(["patch", "-p1", "-s"], cwd=folder, input=there, text=True, check=True)
    assert reading.files(folder) == after


def test_json_names_what_is_added_and_removed(folder: Path) -> None:
    (there,) = json.loads(done("enable", ".", POLICY, "--output", "json", cwd=folder))
    (back,) = json.loads(done("disable", ".", POLICY, "--output", "json", cwd=folder))
    assert (there["options"], there["state"], back["state"]) == ([POLICY], "enabled", "disabled")
    assert {item["file"]: item["change"] for item in there["files"]}["network-policy.yaml"] == "added"
    assert {item["file"]: item["change"] for item in back["files"]}["network-policy.yaml"] == "removed"


@pytest.mark.parametrize("verb", ["enable", "disable"])
def test_an_unknown_name_lists_the_options(verb: str, folder: Path) -> None:
    refused = packyard(verb, ".", "debgu", cwd=folder)
    assert refused.returncode == 1
    assert "did you mean 'debug'?" in refused.stderr
    assert "\n  pull-secret: Pulls images with the credentials" in refused.stderr


def test_what_is_added_as_a_component_is_refused(folder: Path) -> None:
    with (folder / "kustomization.yaml").open("a", encoding="utf-8") as stream:
        stream.write("components:\n- options/debug\n")
    before = reading.files(folder)
    refused = packyard("enable", ".", "debug", cwd=folder)
    assert refused.returncode == 1
    assert "kustomization.yaml:9:3: option 'debug' is added here as a component" in refused.stderr
    assert reading.files(folder) == before


def test_names_are_completed(folder: Path) -> None:
    words = done("complete", "--", "enable", ".", "", cwd=folder).split()
    assert words == sorted(option.name for option in (folder / "options").iterdir())


def test_lint_finds_nothing_where_every_option_is_in(folder: Path) -> None:
    for name in ("debug", "gpu-nodes", "network-policy", "pull-secret"):
        done("enable", ".", name, cwd=folder)
    assert packyard("lint", ".", cwd=folder).stderr == "1 use case, 0 errors, 0 warnings in .\n"


def test_the_list_says_which_are_enabled(folder: Path) -> None:
    done("enable", ".", POLICY, cwd=folder)
    lines = done("enable", ".", "--wide", cwd=folder).splitlines()
    assert lines[0].split() == ["OPTION", "ENABLED", "DESCRIPTION"]
    marked = {line.split()[0]: line.split()[1] == "yes" for line in lines[1:]}
    assert {name for name, yes in marked.items() if yes} == {POLICY}
    listed = json.loads(done("enable", ".", "--output", "json", cwd=folder))
    assert {item["option"]: item["enabled"] for item in listed} == marked
    assert all(len(line) <= 80 for line in done("enable", cwd=folder).splitlines())


def test_several_options_are_all_enabled_or_none(folder: Path) -> None:
    before = reading.files(folder)
    refused = packyard("enable", ".", POLICY, "debgu", cwd=folder)
    assert (refused.returncode, reading.files(folder)) == (1, before)
    together = done("enable", ".", POLICY, "pull-secret", "--dry-run", cwd=folder)
    done("enable", POLICY, "pull-secret", cwd=folder)
    after = reading.files(folder)
    done("undo", cwd=folder)
    assert reading.files(folder) == before
    subprocess.run(["patch", "-p1", "-s"], cwd=folder, input=together, text=True, check=True)
    assert reading.files(folder) == after


def test_below_a_folder_every_use_case_that_has_the_options_is_changed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "second")
    shutil.rmtree(tmp_path / "second" / "options" / POLICY)
    done("enable", tmp_path, POLICY, "-R")
    assert (folder / "network-policy.yaml").exists()
    assert not (tmp_path / "second" / "network-policy.yaml").exists()
    assert packyard("enable", tmp_path, "nothing", "-R").returncode == 1
    listed = json.loads(done("enable", tmp_path, "-R", "-o", "json"))
    assert {(Path(item["directory"]).name, item["enabled"]) for item in listed if item["option"] == POLICY} == {
        ("use-case", True)
    }


def test_new_setters_are_named_with_what_has_to_be_set(folder: Path) -> None:
    story = packyard("enable", "pull-secret", cwd=folder).stderr
    assert "new setters: IMAGE_PULL_SECRET" in story
    required = "required: true" in (folder / "options" / "pull-secret" / "Krmfile.option").read_text()
    assert ("IMAGE_PULL_SECRET (has to be set)" in story) == required
