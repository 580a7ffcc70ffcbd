"""How a command line finds DIR and the sources, from the working directory."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import tiny
from tiny import done, inside, packyard, refused
from using.options import optioned


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a use case's options, and with a folder, no package, that is called as a setter is."""
    return Path(shutil.copytree(tiny.TREES / "directory", tmp_path / "pkg"))


def test_a_folder_is_dir_also_where_a_setter_has_its_name(package: Path) -> None:
    before = (package / "Krmfile").read_text()
    assert "packyard set data 7=VALUE" in refused("set", "data", "7", code=2, cwd=package)
    done("set", "data", "A=9", cwd=package)
    assert "9" in (package / "data" / "Krmfile").read_text()
    assert (package / "Krmfile").read_text() == before
    done("set", "data=7", cwd=package)
    assert "7" in (package / "Krmfile").read_text()


@pytest.mark.parametrize(
    "words", ["setters nowhere", "setters pkg/Krmfile", "set nowhere", "enable o", "lint nowhere", "verify nowhere"]
)
def test_a_word_that_is_no_folder_and_names_nothing_is_said(package: Path, words: str) -> None:
    said = refused(*words.split(), cwd=package.parent)
    assert re.search(f"{words.split()[1]}: is (not|neither) a directory", said)


# Sources.


@pytest.mark.parametrize("words", ["publish --version 1 --to ch", "build --to out --version 1", "lint", "lint bert"])
def test_without_a_workspace_only_list_and_get_know_a_catalogue(tmp_path: Path, words: str) -> None:
    process = inside(*words.split(), cwd=tmp_path)
    assert (process.returncode, process.stdout) == (1, "")
    assert "no packyard.yaml here or above" in process.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208
    assert len(json.loads(inside("list", "-o", "json", cwd=tmp_path).stdout)) > 5
    if words == "lint bert":
        assert "bert: is not a directory" in process.stderr


def test_the_use_case_that_is_named_for_an_example_has_the_setter(tmp_path: Path) -> None:
    root = optioned.package(tmp_path)
    manifest = json.loads((root / "packyard.json").read_text())
    del manifest["useCases"][optioned.SINGLE]["setters"]["IMAGE"]
    tiny.write(root / "packyard.json", json.dumps(manifest))
    assert "(name one: packyard set multi-node IMAGE=1," in packyard("set", "IMAGE=1", cwd=root).stderr
    assert "(name one: packyard set single-node OTHER=1," in packyard("set", "OTHER=1", cwd=root).stderr
    assert done("set", "tiny-k8s/mlops", "IMAGE=1", "-R", cwd=tmp_path).count(" → 1 (1 field)\n") == 2
    tiny.write(root / "quickstart/prod/kustomization.yaml", "resources: []\n")
    refused = packyard("set", root / "quickstart/prod", "IMAGE=1", cwd=tmp_path).stderr
    assert (
        "prod: has no parameters; IMAGE is one of multi-node (packyard set tiny-k8s/multi-node IMAGE=1)" in refused
    ), refused


@pytest.mark.parametrize(
    ("start", "word"),
    [
        (".", "tiny-k8s/multi-node"),
        (".", "tiny-k8s/multi-node/claim"),
        (".", "tiny-k8s/quickstart/multi-node"),
        ("tiny-k8s", "tiny-k8s/multi-node"),
        ("tiny-k8s", "multi-node"),
        ("tiny-k8s/quickstart/mlops/single-node", "tiny-k8s/multi-node"),
    ],
)
def test_a_use_case_has_one_address_from_everywhere(start: str, word: str, tmp_path: Path) -> None:
    root = optioned.package(tmp_path)
    done("set", word, "WORKERS=3", cwd=tmp_path / start)
    assert b'"3"' in (root / optioned.MULTI / "Krmfile").read_bytes()
    explained = done("explain", word, "WORKERS", cwd=tmp_path / start)
    assert "  value    3 (set by you)\n  default  2\n" in explained
    for words in (["setters", word], ["enable", word], ["render", word, "PVC_NAME=d"], ["lint", word]):
        assert packyard(*words, cwd=tmp_path / start).returncode == 0


def test_an_address_of_nothing_names_what_is_there(tmp_path: Path) -> None:
    optioned.package(tmp_path)
    for word, says in (
        ("tiny-k8s/multinode", "tiny-k8s has no use case 'multinode' (did you mean 'tiny-k8s/multi-node'?)"),
        ("multi-node", "no package 'multi-node', and multi-node is not a directory here (did you mean 'tiny-k8s/multi"),
        ("tiny-k8s/mlops", "tiny-k8s/quickstart/mlops: is not a use case, but holds 3: single-node, multi-node, vol"),
        (
            "other/multi-node",
            "carries no package 'other', and other is not a directory here (packyard list shows what it has)",
        ),
        ("../nowhere/multi-node", "is not a directory"),
        ("llm-serving", "llm-serving has several use cases (name one: llm-serving/claim, "),
        ("llm-servin", "no package 'llm-servin', and llm-servin is not a directory here (did you mean 'llm-serving'?)"),
        ("LLM-Serving", "LLM-Serving: is not a directory"),
    ):
        assert says in refused("render", word, cwd=tmp_path)
    assert "(did you mean 'tiny-k8s/multi-node'?)" in refused("diff", "tiny-k8s", "multi-node", cwd=tmp_path)
    manifest = json.loads((tmp_path / "tiny-k8s/packyard.json").read_text())
    manifest["useCases"][optioned.SINGLE]["setters"]["DISK"] = "a"
    tiny.write(tmp_path / "tiny-k8s/packyard.json", json.dumps(manifest))
    assert "(tiny-k8s/single-node has it)" in refused("set", "tiny-k8s/multi-node", "DISK=b", cwd=tmp_path)
