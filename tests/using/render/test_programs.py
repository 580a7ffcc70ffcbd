"""Finding and running the programs that build: their refusals are ours, with their own words."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

import faults
import tiny
from packyard.core.errors import UnavailableError
from packyard.core.work import process
from packyard.using.render import programs
from real import Kustomize


def test_prefers_kustomize_to_kubectl_wherever_they_are(tmp_path: Path) -> None:
    tiny.script(tmp_path / "a/kubectl", "exit 0")
    expected = tiny.script(tmp_path / "b/kustomize", "exit 0")
    found = programs.find(os.pathsep.join((str(tmp_path / "a"), str(tmp_path / "b"))))
    assert found == programs.Program(expected, "build")


@pytest.mark.parametrize("text", ["kill -9 $$", "#"])
def test_a_program_that_does_not_run_is_no_fault_of_the_input(tmp_path: Path, text: str) -> None:
    file = tiny.script(tmp_path / "kustomize", text)
    if text == "#":
        file.chmod(0o644)
    with pytest.raises(UnavailableError, match="kustomize"):
        programs.Program(file, "build").build(tmp_path)


def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tiny.script(tmp_path / "bin/kustomize", f"sleep 60 & echo $! > {tmp_path}/started; wait")
    wait = process._wait

    def started_first(running: Popen[bytes], seconds: float, check: Callable[[], None]) -> int:
        while not ((tmp_path / "started").exists() and (tmp_path / "started").read_text()):
            time.sleep(0.01)
        return wait(running, seconds, check)

    monkeypatch.setattr(process, "_wait", started_first)
    with pytest.raises(UnavailableError) as caught:
        programs.Program(file, "build", seconds=0.3).build(tmp_path)
    hint = f"type kustomize build {tmp_path} to see what it does"
    assert str(caught.value) == f"{tmp_path}: kustomize build takes longer than 0.3 seconds ({hint})"
    started, deadline = int((tmp_path / "started").read_text()), time.monotonic() + 10
    while faults.state_of(started) not in ("", "Z"):  # a signal takes its time
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_directory_whose_name_looks_like_an_option_is_a_directory(
    kustomize5: Kustomize, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "--help"
    tiny.write(folder / "kustomization.yaml", "resources: [a.yaml]\n")
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: X\nmetadata: {name: x}\n")
    monkeypatch.chdir(tmp_path)
    assert programs.Program(kustomize5.program, "build").build(Path("--help")).startswith(b"apiVersion: v1\n")
