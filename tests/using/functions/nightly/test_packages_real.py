"""kpt and kustomize drive our functions on a package: the files afterwards are those that `packyard set` leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import real
import tiny

pytestmark = pytest.mark.nightly

PACKAGE = "resnet50v1-5-fp32-training-k8s"
NFS = "multi-node/user-mounted-nfs"
VALUES = ("NFS_SERVER=10.0.0.5", "NFS_PATH=/exports/ml", "USER_ID=1200", "GROUP_ID=1200", "WORKERS=4", "RUN_NAME=a")
#: What kpt asks of every object that it writes, and a Krmfile does not have.
NAMED = "metadata:\n  name: krmfile\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    tiny.done("get", PACKAGE, "--into", folder, "--quiet")
    return folder / PACKAGE / "quickstart/mlops"


@pytest.fixture
def run(kpt: Path, package: Path, tmp_path: Path) -> Run:
    search = tiny.programs_dir(tmp_path / "bin", {"kpt": kpt})
    for name in ("ours", "theirs"):
        shutil.copytree(package, tmp_path / name)

    def start(*words: object, code: int = 0, cwd: str = "theirs") -> subprocess.CompletedProcess[str]:
        env = tiny.environment(PATH=f"{search}:{os.environ['PATH']}", XDG_STATE_HOME=str(tmp_path / "state"))
        command = list(map(str, words))
        done = subprocess.run(command, cwd=tmp_path / cwd, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return start


def evaluate(run: Run, folder: str, *values: str, code: int = 0, flags: tuple[str, ...] = ()) -> str:
    command = ("kpt", "fn", "eval", folder, "--truncate-output=false", *flags)
    return run(*command, "--exec", f"packyard fn apply-setters {folder}", "--", *values, code=code).stderr


def contents(folder: Path) -> dict[str, bytes]:
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def files(folder: Path) -> dict[str, str]:
    """Return the files by their paths, without what kpt wants to be in a Krmfile."""
    texts = {path: data.decode() for path, data in contents(folder).items()}
    return {path: text.removesuffix(NAMED) for path, text in texts.items()}


def test_kpt_leaves_the_files_that_set_leaves(run: Run, tmp_path: Path) -> None:
    told = evaluate(run, NFS, *VALUES)
    run("packyard", "set", NFS, *VALUES, cwd="ours")
    assert files(tmp_path / "theirs") == files(tmp_path / "ours")
    assert (tmp_path / "theirs" / NFS / "Krmfile").read_text().endswith(NAMED)
    assert 'volumes[4].nfs.server: set field value to "10.0.0.5"' in told
    assert 'NFS_SERVER is "10.0.0.5" in 1 field' in told
    evaluate(run, NFS, "WORKERS=2")
    run("packyard", "set", NFS, "WORKERS=2", cwd="ours")
    run("packyard", "set", NFS, "CPUS=8", cwd="ours")
    run("packyard", "set", NFS, "CPUS=8")  # on what kpt has written
    assert files(tmp_path / "theirs") == files(tmp_path / "ours")


def test_kpt_renders_a_package_by_the_values_of_its_kptfile(run: Run, tmp_path: Path) -> None:
    data = "".join(f"      {name}: '{value}'\n" for name, value in (each.split("=") for each in VALUES))
    pipeline = f"pipeline:\n  mutators:\n  - exec: packyard fn apply-setters\n    configMap:\n{data}"
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n"
    for side in ("ours", "theirs"):
        tiny.write(tmp_path / side / NFS / "Kptfile", kptfile + pipeline)
    run("kpt", "fn", "render", NFS, "--allow-exec")
    (tmp_path / "ours" / NFS / "Kptfile").unlink()
    run("packyard", "set", NFS, *VALUES, cwd="ours")
    found = files(tmp_path / "theirs")
    assert found.pop(f"{NFS}/Kptfile") == kptfile + pipeline
    assert found == files(tmp_path / "ours")
    tiny.replace(tmp_path / "theirs" / NFS / "Kptfile", "WORKERS: '4'", "WORKRS: '4'")
    assert 'setter "WORKRS" is not found' in run("kpt", "fn", "render", NFS, "--allow-exec", code=1).stderr
    assert files(tmp_path / "theirs" / NFS).pop("mpi-job.yaml") == found[f"{NFS}/mpi-job.yaml"]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_kustomize_leaves_the_files_that_set_leaves(
    version: int, run: Run, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """3.8.7 writes the comment above an object's first key behind it, or there too."""
    program = request.getfixturevalue(f"kustomize{version}")
    script = tmp_path / "bin/apply-setters"
    script.write_text(f"#!{real.program('sh')}\nexec packyard fn apply-setters {NFS}\n")
    script.chmod(0o755)
    run(program, "fn", "run", NFS, "--enable-exec", "--exec-path", script, "--", *VALUES)
    run("packyard", "set", NFS, *VALUES, cwd="ours")
    theirs, ours = files(tmp_path / "theirs"), files(tmp_path / "ours")
    assert theirs.keys() == ours.keys()
    for path, text in ours.items():
        assert text == theirs[path] or (version == 3 and moved(text) == moved(theirs[path])), path
    done = run(program, "fn", "run", NFS, "--enable-exec", "--exec-path", script, "--", "WORKERS=0", code=1)
    assert "WORKERS takes a whole number" in done.stderr
    assert files(tmp_path / "theirs") == theirs


def moved(text: str) -> list[str]:
    """Return what a file says, and its comments, wherever they stand."""
    body, comments = [], []
    for line in text.splitlines():
        before, mark, comment = line.partition("# ")
        body += [before.rstrip()] if before.strip() else []
        comments += [comment] if mark else []
    return [*body, *sorted(set(comments))]
