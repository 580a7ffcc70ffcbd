"""Many packages at once: the same bytes from wherever they come, and nothing half-made, whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import real
import tiny
from packyard.core.digest import Digest
from packyard.writing.build import catalogue
from packyard.writing.source import workspace
from tiny import COMMAND, done, environment, packyard

pytestmark = pytest.mark.nightly

NAME = "resnet50v1-5-fp32-training-k8s"
VERSION = "1.0"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of three packages, each with a name of its own for its objects, on the parts of the catalogue."""
    root = tmp_path_factory.mktemp("many") / "sources"
    root.mkdir()
    shutil.copy(real.REPOSITORY / "LICENSE", root)
    shared = (real.REPOSITORY / "packyard.yaml").read_text()
    (root / "packyard.yaml").write_text(f"{shared}libraries: [builtin]\n")
    for number in range(3):
        folder = root / "packages" / f"{NAME}-00{number}"
        shutil.copytree(real.REPOSITORY / "packages" / NAME, folder)
        tiny.replace(folder / "package.yaml", "\nsetters:\n", f"\nsetters:\n  MODEL_NAME: resnet50-00{number}\n")
    return root


@pytest.fixture(scope="module")
def expected(many: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tars of all packages, made one after another."""
    out_dir = tmp_path_factory.mktemp("expected")
    return tars(done(*build(many, out_dir), "--jobs", 1))


def build(root: Path, out_dir: Path) -> tuple[object, ...]:
    return ("build", "--workspace", root, "--version", VERSION, "--to", out_dir, "--output", "json")


def tars(output: str) -> dict[str, str]:
    return {item["name"]: item["tar"] for item in json.loads(output)}


def test_the_same_bytes_from_several_processes(many: Path, expected: dict[str, str], tmp_path: Path) -> None:
    assert tars(done(*build(many, tmp_path / "out"), "--jobs", 3)) == expected
    assert len(list((tmp_path / "out").iterdir())) == 2 * len(expected)


def test_what_is_wrong_with_several_packages_is_said_at_once_and_nothing_is_written(many: Path, tmp_path: Path) -> None:
    root = shutil.copytree(many, tmp_path / "sources")
    for number in (0, 2):
        file = root / "packages" / f"{NAME}-00{number}" / "package.yaml"
        file.write_text(file.read_text().replace("kind: Package", "kind: Parcel"))
    process = packyard(*build(root, tmp_path / "new" / "out"), "--jobs", 2)
    assert process.returncode == 1
    assert [f"{NAME}-00{number}/package.yaml:2" in process.stderr for number in (0, 2)] == [True, True]
    assert not (tmp_path / "new").exists()


def test_an_interrupt_leaves_nothing(many: Path, tmp_path: Path) -> None:
    with started(many, tmp_path / "new" / "out") as process:
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)  # when no worker holds them any more
    assert (process.returncode, stdout, stderr) == (130, "", "interrupted\n")
    assert not (tmp_path / "new").exists()


def started(root: Path, out_dir: Path) -> subprocess.Popen[str]:
    """Start a build, in a group of its own, and return when its workers are at work."""
    command = [*COMMAND, *map(str, build(root, out_dir)), "--jobs", "2"]
    process = subprocess.Popen(
        command,
        env=environment(),
        start_new_session=True,
        # A shell's job in the background, as these tests may be, ignores interrupts, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(out_dir.glob(".packyard-*/*")):
        assert process.poll() is None, process.stderr
        time.sleep(0.005)
    return process


def test_the_inputs_of_a_bundle_are_the_files_that_it_was_made_from(tmp_path: Path) -> None:
    root_dir = tiny.workspace(tmp_path / "here")
    (built,) = catalogue.build(workspace.read(root_dir), "1", ["p"], lambda _: None, jobs=0).packages
    for path, digest in built.inputs.items():
        assert digest == Digest.of((root_dir / path).read_bytes())
    assert {"packyard.yaml", "LICENSE", "packages/p/package.yaml"} <= set(built.inputs)
