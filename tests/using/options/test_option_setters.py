"""Values of options: set, shown and unset from a use case that has the option, and the same for all that have it."""

import os
import shutil
import traceback
from collections import Counter
from pathlib import Path

import pytest

import reading
from packyard.cli.main import main
from real import Kustomize
from tiny import done
from using.commands import refused
from using.options import optioned

KRMFILE = f"{optioned.OPTIONS}/Krmfile"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return optioned.package(tmp_path)


def test_a_set_of_an_option_is_that_of_kustomize(root: Path, tmp_path: Path, kustomize3: Kustomize) -> None:
    done("enable", ".", "queue", "spread", cwd=root / optioned.MULTI)
    theirs = tmp_path / "theirs"
    shutil.copytree(root, theirs)
    for name, text in (("QUEUE_NAME", "team-a"), ("SPREAD_ELSE", "DoNotSchedule"), ("S3_BUCKET", "b-1")):
        done("set", "../../options", f"{name}={text}", cwd=root / optioned.MULTI)
        kustomize3.done("cfg", "set", "../../options", name, text, cwd=theirs / optioned.MULTI)
    assert reading.files(root) == reading.files(theirs)
    done("set", ".", "QUEUE_NAME=team-b", "SPREAD_ELSE=ScheduleAnyway", cwd=root / optioned.MULTI)
    for name, text in (("QUEUE_NAME", "team-b"), ("SPREAD_ELSE", "ScheduleAnyway")):
        kustomize3.done("cfg", "set", "../../options", name, text, cwd=theirs / optioned.MULTI)
    assert reading.files(root) == reading.files(theirs)


def test_without_a_default_the_value_that_was_shipped_comes_back(root: Path) -> None:
    directory = root / optioned.MULTI
    before = reading.files(root)
    done("set", ".", "RUN_NAME=x", "WORKERS=4", "PVC_NAME=disk", cwd=directory)
    done("set", ".", "--unset", "RUN_NAME", "--unset", "WORKERS", "--unset", "PVC_NAME", cwd=directory)
    assert reading.files(root) == before
    done("enable", ".", "queue", cwd=directory)
    enabled = reading.files(root)
    done("set", ".", "QUEUE_NAME=team-a", "IMAGE=x:2", cwd=directory)
    done("set", ".", "--unset", "QUEUE_NAME", "--unset", "IMAGE", cwd=directory)
    assert reading.files(root) == enabled
    done("set", ".", "RUN_NAME=x", "PVC_NAME=disk", "-R", cwd=root)
    done("set", ".", "--unset", "RUN_NAME", "--unset", "PVC_NAME", "-R", cwd=root)
    assert reading.files(root) == enabled


def test_options_that_lost_their_krmfile_are_not_rendered(root: Path) -> None:
    done("enable", ".", "dataset-bucket", cwd=root / optioned.MULTI)
    done("set", ".", "PVC_NAME=disk", cwd=root / optioned.MULTI)
    (root / KRMFILE).unlink()
    assert "options: has no Krmfile (its package ships one" in refused(root / optioned.MULTI, "render", ".")


def test_a_use_case_in_hidden_folders_is_set_and_rendered(root: Path) -> None:
    directory = (root / "quickstart").rename(root / ".quick") / "mlops/.multi"
    (directory.parent / "multi-node").rename(directory)
    done("enable", ".", "queue", cwd=directory / "claim")
    done("set", ".", "QUEUE_NAME=x", "PVC_NAME=disk", cwd=directory / "claim")
    assert "queue-name: x\n" in done("render", "--built-in", ".", cwd=directory / "claim")


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"apiVersion": "packyard/v2", "kind": "Bundle"}'])
def test_a_damaged_packyard_json_is_said_where_it_is_needed(root: Path, text: str) -> None:
    directory = root / optioned.MULTI
    (root / "packyard.json").write_text(text)
    done("set", ".", "RUN_NAME=x", cwd=directory)
    refused(directory, "set", ".", "--unset", "RUN_NAME")


@pytest.mark.parametrize(
    "words", ["MEMORY_LIMIT=8Gi", "MEMORY_LIMIT 8Gi", "--unset MEMORY_LIMIT", "-R MEMORY_LIMIT=8Gi"]
)
def test_a_name_that_went_says_where(root: Path, words: str) -> None:
    err = refused(root / optioned.MULTI, "set", ".", *words.split())
    assert err == "error: MEMORY_LIMIT is no longer a parameter: the line `memory` of job.yaml\n"


#: How many files of the package each opens, besides packyard.json.
OPENED = {
    "set . RUN_NAME=y": 9, "set . QUEUE_NAME=x": 13, "set QUEUE_NAME x": 13, "set . --unset RUN_NAME": 9,
    "set -R QUEUE_NAME=x": 13, "setters .": 13, "enable . dataset-bucket": 12, "enable .": 12,
    "enable . queue --off": 12, "render .": 13, "render --built-in .": 13, "lint ../../../..": 20, "undo . --list": 3,
    "undo .": 3, "deploy .": 13,
}  # fmt: skip


@pytest.mark.parametrize("words", OPENED)
def test_a_command_opens_no_file_twice(root: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    done("enable", ".", "queue", "spread", cwd=root / optioned.MULTI)
    done("set", ".", "PVC_NAME=disk", cwd=root / optioned.MULTI)
    opened, opening = Counter[str](), os.open

    def count(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        callers = {Path(frame.filename).stem for frame in traceback.extract_stack()}
        if not flags & os.O_DIRECTORY and not {"replace", "atomic"} & callers:  # which write, and compare before
            opened[os.path.realpath(path)] += 1
        return opening(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.chdir(root / optioned.MULTI)
    monkeypatch.setattr(os, "open", count)
    monkeypatch.setenv("KUBECONFIG", os.devnull)
    assert main(words.split()) == words.startswith(("lint", "deploy"))
    own = {os.path.relpath(file, root): number for file, number in opened.items() if file.startswith(str(root))}
    assert own.pop("packyard.json", 0) <= (4 if words.startswith("deploy") else 2)
    assert ({*own.values()}, len(own)) == ({1}, OPENED[words])
