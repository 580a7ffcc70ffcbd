"""The README: every command in it runs, and what it claims to have been seen is seen again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import real

README = (real.REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)

#: What needs more than a test has: another machine's cluster, or the commands that run these very tests.
ELSEWHERE = ("pip install .", "make demo", "make test")


def packyard(folder: Path) -> dict[str, str]:
    """An environment in which `packyard` is that of this interpreter."""
    folder.mkdir()
    command = folder / "packyard"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m packyard.cli.main "$@"\n', "utf-8")
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}


def run(script: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_commands_of_a_user_run_in_their_order(kustomize5: Path, tmp_path: Path) -> None:
    environment = packyard(tmp_path / "bin")
    (tmp_path / "bin/kustomize").symlink_to(kustomize5)
    commands = [line for block in BLOCKS for line in block.splitlines() if line not in ELSEWHERE]
    users = [line for line in commands if "build" not in line and not line.startswith("kubectl ")]
    script = []
    for line in users:
        command, pipe, rest = line.partition(" | ")
        script.append(command if not pipe else f"{command} > rendered-{len(script)}.yaml")
        assert not pipe or rest == "kubectl apply -n ml -f -"
    run("\n".join(script), tmp_path, environment)
    found = sorted((tmp_path / "mnist-fp32-training-k8s/quickstart/mlops").glob("rendered-*.yaml"))
    first, other = (file.read_text("utf-8") for file in found)
    assert "name: mnist-fp32-training-first-run\n" in first
    assert "server: 10.0.0.5\n" in other


def test_the_commands_of_an_author_run_in_a_clone(tmp_path: Path) -> None:
    environment = packyard(tmp_path / "bin")
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("packyard.yaml", "LICENSE", "Krmfile"):
        shutil.copy(real.REPOSITORY / name, clone)
    for name in ("bases", "overlays", "packages", "docs"):
        shutil.copytree(real.REPOSITORY / name, clone / name)
    block = next(block for block in BLOCKS if "packyard publish" in block)
    run(block, clone, environment)
    assert (clone / "build/fetched/resnet50v1-5-fp32-training-k8s/README.md").is_file()


def test_kustomize_writes_the_bytes_that_we_write(kustomize3: Path, tmp_path: Path) -> None:
    environment = packyard(tmp_path / "bin")
    run("packyard get mnist-fp32-training-k8s", tmp_path, environment)
    before = tmp_path / "mnist-fp32-training-k8s/quickstart/mlops/multi-node/user-mounted-nfs"
    for side in ("ours", "theirs"):
        shutil.copytree(before, tmp_path / side)
    run("packyard set ours NFS_SERVER=10.0.0.5", tmp_path, environment)
    subprocess.run([kustomize3, "cfg", "set", "theirs", "NFS_SERVER", "10.0.0.5"], cwd=tmp_path, check=True)
    diff = re.findall(r"```diff\n(.*?)```", README, re.DOTALL)[0]
    for file in sorted(before.iterdir()):
        ours = (tmp_path / "ours" / file.name).read_text("utf-8")
        assert ours == (tmp_path / "theirs" / file.name).read_text("utf-8")
        if file.name == "job.yaml":
            assert text(diff, "-") in file.read_text("utf-8")
            assert text(diff, "+") in ours


def text(diff: str, side: str) -> str:
    """Return the lines that a diff has on one side."""
    return "".join(f"{line[1:]}\n" for line in diff.splitlines() if line.startswith((" ", side)))


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)#:]+)\)", README))
def test_a_link_leads_to_a_file(path: str) -> None:
    assert (real.REPOSITORY / path).exists()
