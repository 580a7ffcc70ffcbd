"""`packyard test`: each fault of a package is found by the check that is there for it, and nothing else is said."""

import json
import os
from pathlib import Path

import pytest

import real
import tiny
from controlplane.api import Api
from real import Kustomize
from tiny import packyard, programs_dir


@pytest.fixture
def path(tmp_path: Path, kustomize5: Kustomize) -> str:
    return str(programs_dir(tmp_path / "programs", {"kustomize": kustomize5.program}))


def verdicts(workspace: Path, path: str, *words: str) -> list[tuple[str, str, str]]:
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    done = packyard("test", "p", *words, "-o", "json", cwd=workspace, **environment)
    assert done.stdout, done.stderr
    found = [(each["check"], each["where"], each["state"]) for each in json.loads(done.stdout)]
    assert done.returncode == int("failed" in {state for *_, state in found}), done.stderr
    return found


def failed(workspace: Path, path: str, *words: str) -> list[tuple[str, str]]:
    return [(check, where) for check, where, state in verdicts(workspace, path, *words) if state == "failed"]


def test_a_sound_package_passes_each_check(workspace: Path, path: str) -> None:
    assert verdicts(workspace, path) == [
        ("build", "", "passed"),
        ("lint", "", "passed"),
        ("render", "one", "passed"),
        ("kustomize", "one", "passed"),
    ]


@pytest.mark.nightly
def test_without_programs_what_needs_them_is_skipped(workspace: Path, tmp_path: Path) -> None:
    shell = programs_dir(tmp_path / "few", {name: real.program(name) for name in ("sh", "cat", "env")})
    done = packyard("test", "p", cwd=workspace, PATH=str(shell))
    assert done.returncode == 0, done.stderr
    assert "not checked: neither kustomize nor kubectl is on PATH" in done.stderr
    assert "3 passed, 0 failed, 1 skipped" in done.stderr
    assert packyard("test", "packages/p", "--strict", cwd=workspace, PATH=str(shell)).returncode == 1


def test_what_kustomize_builds_otherwise_is_named(workspace: Path, tmp_path: Path, kustomize5: Kustomize) -> None:
    other = programs_dir(tmp_path / "other", {})
    tiny.script(other / "kustomize", f"{kustomize5.program} \"$@\" | sed 's/name: x/name: z/'")
    done = packyard("test", "p", cwd=workspace, PATH=f"{other}:{real.path_with('sed')}")
    assert done.returncode == 1
    assert "p kustomize one: ConfigMap/x is built otherwise by packyard itself" in done.stderr


def test_each_fault_is_found_by_its_check(workspace: Path, path: str) -> None:
    def with_fault(file: str, old: str, new: str) -> list[tuple[str, str]]:
        tiny.replace(workspace / file, old, new)
        found = failed(workspace, path)
        tiny.replace(workspace / file, new, old)
        return found

    assert with_fault("packages/p/package.yaml", "base: one", "base: two") == [("build", "")]
    assert with_fault("bases/one/cm.yaml", "data:\n  a", "dta:\n  a") == [("lint", "")]
    assert ("render", "one") in with_fault("bases/one/cm.yaml", "name: x", "names: x")


def test_an_api_server_is_asked_on_request(
    workspace: Path, tmp_path: Path, kubectl: Path, kustomize5: Kustomize, api_server: Api
) -> None:
    path = str(programs_dir(tmp_path / "all", {"kubectl": kubectl, "kustomize": kustomize5.program}))
    os.environ["KUBECONFIG"] = str(api_server.folder / "kubeconfig")
    try:
        assert ("server", "one", "passed") in verdicts(workspace, path, "--server")
        tiny.replace(workspace / "bases/one/cm.yaml", "name: x", "name: X")
        assert ("server", "one") in failed(workspace, path, "--server")
    finally:
        del os.environ["KUBECONFIG"]
