"""Bad input gets a clear error with its place and a hint, exit code 1 (wrong usage: 2), and nothing is written."""

import re
import shutil
import socket
from pathlib import Path

import pytest

from tiny import TREES, done, replace, write
from using.commands import refused


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one base, one overlay and one package, in which all is well."""
    return Path(shutil.copytree(TREES / "bert", tmp_path / "workspace"))


@pytest.fixture
def built(workspace: Path, tmp_path: Path) -> Path:
    """The folder of the package's use case, built."""
    done("build", "--workspace", workspace, "--to", tmp_path / "built", "--version", "1.0")
    return tmp_path / "built/bert/quickstart/mlops/single-node/nfs"


def test_an_output_directory_that_holds_something_else(built: Path, workspace: Path, tmp_path: Path) -> None:
    write(tmp_path / "out/bert/thesis.txt", "years of work")
    replace(built / "job.yaml", "bert:1", "bert:2")
    for out, says in (
        ("out", r"out/bert: is not what packyard built: .*packyard\.json: no such file \(choose another --to"),
        ("built", r"built/bert: is not what packyard built: .*single-node/nfs/job\.yaml"),
    ):
        words = ("build", "--workspace", workspace, "--to", tmp_path / out, "--version", "1.0")
        assert re.search(says, refused(tmp_path, *words))


@pytest.mark.parametrize("words", [("render",), ("setters",), ("set", "X=1"), ("render", "--built-in", "X=1")])
def test_a_krmfile_that_is_lost_is_named_with_the_package_that_has_it(
    words: tuple[str, ...], built: Path, tmp_path: Path
) -> None:
    """What would be built without it has no value where one is required."""
    (built / "Krmfile").unlink()
    verb, *others = words
    says = r"has no Krmfile \(its package ships one: packyard get bert@1\.0 --to FOLDER, and copy it from there\)"
    assert re.search(says, refused(tmp_path, verb, built, *others))


def test_no_network(tmp_path: Path) -> None:
    with socket.socket() as taken:  # a port that nobody listens on
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/models"
        for words in (("get", "bert", "--to", tmp_path), ("list",)):
            assert url in refused(tmp_path, *words, "--from", url)
