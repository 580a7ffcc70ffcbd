"""`packyard new` and `packyard parts`: what they say and write is enough to go on from."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

import real
import sample
import tiny
from catalogue import workspaces
from cli.terminal import on_terminal
from packyard.writing.build.draft import compose_draft
from packyard.writing.source import offers, workspace
from packyard.writing.source.workspace import BASE
from real import Kustomize
from tiny import COMMAND, done, environment

#: Those that call their objects as the base `staging` does.
_PARTS_OF_STAGING = ("copy", "node-staging")
#: These, one whose pods mount no storage, and one from which options cannot tell other Deployments.
_NOT_BESIDE_OTHERS = (*_PARTS_OF_STAGING, "smoke-test", "deployment")
BOUND = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: "1.10" # {"$openapi":"XX"}\n'
KRMFILE = tiny.krmfile("    io.k8s.cli.setters.XX: {description: X., x-k8s-cli: {setter: {name: XX, value: 1.10}}}\n")
CLAIM = ("--storage", "user-allocated-pvc")


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    return workspaces.copy(tmp_path / "catalogue", [])


def new(folder: Path, *words: str) -> Path:
    done("new", "hello", "--workspace", folder, *words)
    return folder / "packages/hello"


def bases(names: Sequence[str]) -> list[str]:
    return [word for number, name in enumerate(names) for word in ("--base", f"case-{number}={name}")]


def refused(folder: Path, *words: str) -> str:
    before = {*folder.rglob("*"), folder / "packages"}
    said = tiny.refused("new", *words, "--workspace", folder)
    assert {*folder.rglob("*"), folder / "packages"} == before
    return said


@pytest.mark.nightly
def test_a_package_of_every_base_builds_and_is_what_kustomize_builds(catalogue: Path, kustomize5: Kustomize) -> None:
    parts = [*offers.find(workspace.read(real.REPOSITORY), pytest.fail)]
    names = [part.name for part in parts if part.kind == BASE and part.name not in _NOT_BESIDE_OTHERS]
    names.sort(key=lambda name: sha256(f"{sample.SEED} {name}".encode()).digest())
    chosen = names if sample.WHOLE else names[:3]
    words = bases(chosen)
    words += ["--set", "PREPROCESS_IMAGE=${REGISTRY}/preprocess:1"] if "preprocess-and-test" in chosen else []
    new(catalogue, *words, *CLAIM)
    path = catalogue / "programs"
    path.mkdir()
    (path / "kustomize").symlink_to(kustomize5.program)
    printed = subprocess.run(
        [*COMMAND, "test", "hello", "-o", "json"],
        cwd=catalogue,
        env=environment(PATH=f"{path}:{os.environ['PATH']}"),
        capture_output=True,
        check=False,
    )
    states = {(each["check"], each["where"]): each["state"] for each in json.loads(printed.stdout)}
    said = printed.stderr.decode()
    assert [check for (check, _), state in states.items() if state == "failed"] == [], said
    assert sum(check == "kustomize" for check, _ in states) == len(chosen)


@pytest.mark.nightly
def test_what_is_written_is_short_and_says_what_was_asked(catalogue: Path) -> None:
    package = new(catalogue, "--base", "single-node", "--base", "many=mpi-job", *CLAIM)
    assert (package / "package.yaml").read_text() == (
        "apiVersion: packyard/v1\n"
        "kind: Package\n"
        "useCases:\n"
        "  single-node:\n"
        "    base: single-node\n"
        "    storage: [user-allocated-pvc]\n"
        "    patches: [patches/single-node.yaml]\n"
        "  many:\n"
        "    base: mpi-job\n"
        "    storage: [user-allocated-pvc]\n"
        "    patches: [patches/many.yaml]\n"
    )
    assert "    command: [python3, main.py]\n    args: []\n" in (package / "patches/single-node.yaml").read_text()
    assert "    args: []\n" in (package / "patches/many.yaml").read_text()


def test_what_is_written_builds_what_the_base_says_and_generic_bases_take_the_options_of_pods(tmp_path: Path) -> None:
    done("init", tmp_path)
    own = tmp_path / "bases/own/cron-job.yaml"
    tiny.write(own.with_name("kustomization.yaml"), "# Runs at night.\nresources: [cron-job.yaml]\n")
    tiny.write(own, tiny.text("cron-job.yaml"))
    new(tmp_path, "--base", "job", "--base", "deployment", "--base", "own", "--base", "mpi-job", *CLAIM)
    here = workspace.read(tmp_path)
    made = compose_draft(here, "1", "hello").composed
    for path in (tmp_path / "packages/hello/patches").iterdir():
        path.unlink()
    package = tmp_path / "packages/hello/package.yaml"
    package.write_text(re.sub(r"    patches: .*\n", "", package.read_text()))
    bare = compose_draft(workspace.read(tmp_path), "1", "hello").composed
    assert made is not None
    assert bare is not None
    for path, data in bare.files.items():
        assert [*yaml.safe_load_all(made.files[path])] == [*yaml.safe_load_all(data)] or not path.endswith(".yaml")
    misfits = made.options.misfits
    for option in ("gpus", "environment", "writable-root", "node-pool", "scheduling", "pull-secret"):
        assert {*misfits.get(option, {})} <= ({"own/user-allocated-pvc"} if option == "pull-secret" else set()), option


def test_a_package_without_a_description_gets_a_warning_at_the_line_for_it(tmp_path: Path) -> None:
    done("init", tmp_path)
    at = f"{new(tmp_path, '--base', 'job', '--base', 'mpi-job')}/docs/10-description.md:1: "
    for words in (["test"], ["build", "--version", "1", "--to", tmp_path / "out"]):
        _, _, said = tiny.run(*words, "--workspace", tmp_path)
        warned = [line for line in said.splitlines() if line.startswith("warning: ")]
        assert warned == [f"warning: lint has 1 warning; packyard lint --workspace {tmp_path} shows them"]
    shown = tiny.run("lint", "--workspace", tmp_path)[1]
    assert f"{at}warning: the package has no description" in shown
    done("new", "two", "--workspace", tmp_path, "--base", "job", "--description", "Says {{ 1 }}.")
    assert tiny.run("lint", "two", "--workspace", tmp_path)[1] == ""
    tiny.replace(tmp_path / "packages/two/package.yaml", "useCases:", "model: {mode: train}\nuseCases:")
    assert "mode: must be training or inference, not 'train'" in tiny.run("lint", "two", "--workspace", tmp_path)[1]


def test_what_does_not_fit_is_refused_with_what_would(catalogue: Path) -> None:
    assert "did you mean 'single-node'?" in refused(catalogue, "hello", "--base", "single-nod")
    said = refused(catalogue, "hello", "--base", "preprocess-and-test", *CLAIM)
    assert "PREPROCESS_IMAGE: no Krmfile defines it" in said
    assert "--base USECASE=BASE" in refused(catalogue, "hello", "--base", "train-and-serve", *CLAIM)
    assert "lower case" in refused(catalogue, "Hello", "--base", "single-node", *CLAIM)
    new(catalogue, "--base", "single-node", *CLAIM)
    assert "exists already" in refused(catalogue, "hello", "--base", "single-node", *CLAIM)
    code, _, said = tiny.run("new", "other", "--workspace", catalogue)
    assert (code, "--base is missing" in said) == (2, True)


def test_a_broken_base_is_refused_with_what_lint_says_and_stops_no_package_of_others(tmp_path: Path) -> None:
    done("init", tmp_path)
    files = {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": BOUND, "Krmfile": KRMFILE}
    tiny.write_all(tmp_path / "bases/ray", files)
    tiny.write(tmp_path / "bases/half/kustomization.yaml", "resources: [")
    said = refused(tmp_path, "hello", "--base", "ray")
    assert ("[unquoted-value]" in said, "packages/hello: was not written\n" in said) == (True, True)
    said = refused(tmp_path, "hello", "--base", "half")
    assert (said.startswith("warning: "), "no base 'half'" in said) == (True, True)
    assert (new(tmp_path, "--base", "job") / "package.yaml").is_file()


@pytest.mark.nightly
def test_on_a_terminal_it_asks_and_asks_again(catalogue: Path) -> None:
    answers = [
        ("what it is called", "Hello"),
        ("(did you mean 'hello'?)", "hello"),
        ("what it runs", "jbo"),
        ("no base 'jbo' (did you mean 'job'?)", "1"),
        ("storage [none]", "clam"),
        ("no storage 'clam'", "none"),
        ("what it does", "Says {{ 7 * 7 }} and {% include 'x' %}."),
    ]
    with on_terminal("new", cwd=catalogue) as terminal:
        for prompt, answer in answers:
            terminal.until(prompt)
            terminal.type(answer)
        terminal.until("packyard test hello")
    package = (catalogue / "packages/hello/package.yaml").read_text()
    assert "storage: [none]" in package
    said = compose_draft(workspace.read(catalogue), "1", "hello").readme.decode()
    assert "\nSays {{ 7 * 7 }} and {% include 'x' %}.\n" in said, "a description is text, and no template"


def test_list_says_what_parts_need_and_define_but_of_internal_ones_nothing() -> None:
    listed = json.loads(done("new", "--list", "--workspace", real.REPOSITORY, "-o", "json"))
    found = {(each["kind"], each["name"]): each for each in listed}
    job = found["base", "single-node"]
    assert {"STORAGE_PATH", "STORAGE_NAME"} == {*job["needs"]}
    assert job["objects"][0] == "Job"
    assert job["volume"]
    assert found["base", "mpi-job"]["operators"] == ["MPI operator"]
    assert "STORAGE_PATH" in found["storage", "user-mounted-nfs"]["defines"]
    assert all(each["description"] for each in listed)
    assert {each["kind"] for each in listed} == {"base", "storage", "programs", "options"}
    assert not {("base", "run"), ("base", "vllm"), ("programs", "mounted")} & found.keys()


def test_list_of_a_name_shows_the_manifests_that_a_use_case_begins_with() -> None:
    shown = done("new", "--list", "deployment", "--workspace", real.REPOSITORY)
    assert shown.count("\n---\n") == 2
    assert '        image: "" # {"$openapi":"IMAGE"}\n' in shown
    pods = (real.REPOSITORY / "overlays/storage/none/pods.yaml").read_text()
    assert pods in done("new", "--list", "none", "--workspace", real.REPOSITORY)


def test_no_section_of_shared_setters_claims_what_a_package_may_change() -> None:
    krmfiles = ("Krmfile", "bases/*/Krmfile", "overlays/*/*/Krmfile")
    found = (file for pattern in krmfiles for file in real.REPOSITORY.glob(pattern))
    assert [file for file in found if "# Required" in file.read_text()] == []


def test_what_was_interrupted_leaves_no_package(catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lint(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("packyard.cli.writing.new.workspace_lint.lint", lint)
    code, _, _ = tiny.run("new", "hello", "--base", "single-node", *CLAIM, "--workspace", catalogue)
    assert code == 130
    assert not (catalogue / "packages/hello").exists()
