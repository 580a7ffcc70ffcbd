"""`packyard show`: what a package is, before it is fetched, from the catalogue and from a channel."""

import json
import shlex
from pathlib import Path

import pytest

import tiny
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import build
from packyard.core.bundle.manifest import Manifest
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import publish
from tiny import done

NAME = "llm-serving"
ONE = f"{NAME}/one-node"


def channel(folder: Path) -> Path:
    """Publish two versions of a small package, and yank a third."""
    root = tiny.workspace(folder / "workspace")
    for version in ("1.0", "1.1", "1.2"):
        done("publish", "--workspace", root, "--version", version, "--to", folder / "channel")
    done("yank", "p@1.2", "--reason", "too slow", "--from", folder / "channel")
    return folder / "channel"


def test_shows_use_cases_with_what_they_are_for_and_one_with_the_command_that_sets_it() -> None:
    shown = done("show", NAME)
    case = shown[shown.index("\none-node\n") + 1 :].split("\n")
    assert case[1].startswith("    Serves a model with vLLM, each server on one node")
    assert "    after: claim, staging" in case
    assert "    set: PVC_NAME" in case
    for said in (
        "options   adapter, amd",
        "Kubernetes 1.28 to ",
        "LeaderWorkerSet 0.6 or later",
        "    needs: Kubernetes 1.33 or later (up to 1.34 only where the feature gate\n           ImageVolume is on)\n",
        "packyard get",
    ):
        assert said in shown
    shown = done("show", ONE)
    assert "    set PVC_NAME: Name of the claim. Example: workdisk.\n" in shown
    assert f"packyard set {NAME}/one-node PVC_NAME=workdisk\n" in shown
    assert done("show", NAME, "one-node") == shown
    for storage in ("user-allocated-pvc", "user-mounted-nfs"):
        assert f"\nmulti-node/{storage}\n" in done("show", "mnist-fp32-training-k8s/multi-node")
    for word in ("rclone", "efa", "from-bucket", "Serves a language model with vLLM, which"):  # of other use cases
        assert word not in shown, shown
    assert "cluster   Kubernetes 1.33 or later (up to 1.34 only where the feature gate" in done(
        "show", NAME, "from-image"
    )


def test_lists_the_images_of_a_package_by_their_whole_names_for_programs_that_copy_them(tmp_path: Path) -> None:
    pinned = f"quay.io:443/x/y@sha256:{'0' * 64}"
    names = ("docker.io/intel/a:1.0", "python", pinned, "", "not one!")
    described = Manifest(name="bert", version="1.0", model={}, use_cases={}, images=names)
    publish(DirectoryStore(tmp_path / "channel"), [build(described, [Member(path="README.md", data=b"")])])
    command = ("show", "bert", "--from", tmp_path / "channel", "--images")
    assert done(*command).splitlines() == ["docker.io/intel/a:1.0", "docker.io/library/python:latest", pinned]
    assert [each["image"] for each in json.loads(done(*command, "-o", "json"))][-1] == pinned


def test_a_channel_tells_its_versions_and_nothing_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = channel(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    (row,) = json.loads(done("show", "p", "--from", place, "-o", "json"))
    assert (row["version"], row["yanked"], row["files"]) == ("1.1", "", 6)
    assert {each["version"]: each["yanked"] for each in row["versions"]} == {"1.2": "too slow", "1.1": "", "1.0": ""}
    assert row["useCases"][0]["description"] == "Holds settings."
    assert "versions  1.2 (yanked), 1.1, 1.0\n" in done("show", "p@1.0", "--from", place)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_commands_to_go_on_with_name_the_same_channel_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel(tmp_path).rename(tmp_path / "my chännel")
    monkeypatch.chdir(tmp_path)
    shown = done("show", "p@1.0", "--from", "my chännel")
    get, show = (shlex.split(line) for line in shown.partition("next ")[2].splitlines())
    of_one = done(*(word.replace("USECASE", "uses/one") for word in show[1:]))
    again = next(shlex.split(line.removeprefix("next")) for line in of_one.splitlines() if line.startswith("next"))
    assert again == get
    done(*get[1:])
    assert json.loads((tmp_path / "p/packyard.json").read_text())["version"] == "1.0"
