"""Values of options: set, shown and unset from a use case that has the option, and the same for all that have it."""

import shutil
from pathlib import Path

import pytest

import reading
from packyard.core.yaml.builder import Builder
from packyard.using.kustomize.builtin import Trial
from packyard.using.options import switch
from packyard.using.setting import set_values
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


def test_set_parses_no_option_without_the_setter_and_a_list_each_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("enable", ".", "queue", "spread", cwd=root / optioned.MULTI)
    parsed, build = list[str](), Builder.build
    monkeypatch.setattr(Builder, "build", lambda self, take: parsed.append(self.source.text) or build(self, take))
    set_values(root / optioned.MULTI, {"RUN_NAME": ["x"]})
    switch.states(root / optioned.MULTI, Trial(root / optioned.MULTI))
    texts = [(root / optioned.OPTIONS / file).read_text() for file in ("queue/queue.yaml", "Krmfile")]
    assert [*map(parsed.count, texts)] == [1, 1]
