"""Bad input gets a clear error with its place and a hint, exit code 1 (wrong usage: 2), and nothing is written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tiny import TREES, composing, packyard

PACKAGE_FILE = "packages/bert/package.yaml"
USE_CASE = "bert/quickstart/mlops/single-node/nfs"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A workspace with one base, one overlay and one package, in which all is well."""
    return Path(shutil.copytree(TREES / "bert", tmp_path / "tiny"))


@pytest.fixture
def built(tiny: Path, tmp_path: Path) -> Path:
    """The folder of the tiny package's use case, built."""
    assert build(tiny, tmp_path / "built").returncode == 0
    return tmp_path / "built" / USE_CASE


@pytest.fixture
def channel(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A channel in which another user published the tiny package as 1.0."""
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        assert publish(tiny, tmp_path / "channel").returncode == 0
    return tmp_path / "channel"


def build(workspace: Path, out_dir: Path) -> CompletedProcess[str]:
    return packyard("build", "--workspace", workspace, "--to", out_dir, "--version", "1.0")


def publish(workspace: Path, channel: Path, version: str = "1.0") -> CompletedProcess[str]:
    return packyard("publish", "--workspace", workspace, "--to", channel, "--version", version)


def edit(workspace: Path, path: str, old: str, new: str) -> None:
    """Replace ``old``, which is there once, in a file."""
    text = (workspace / path).read_text()
    assert text.count(old) == 1
    (workspace / path).write_text(text.replace(old, new))


def state(directory: Path) -> str:
    """Return a digest of all that is below a directory: names and modes; times and bytes of files."""
    found = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        found.update(f"{path.relative_to(directory)} {status.st_mode} ".encode())
        found.update(f"{status.st_mtime_ns} ".encode() + path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def refused(watched: Path, *words: object, says: str, code: int = 1) -> str:
    """Check that a command is refused by a message that matches ``says``, and that it leaves ``watched`` as it is."""
    before = state(watched)
    done = packyard(*words, cwd=watched)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert re.search(says, done.stderr), done.stderr
    assert state(watched) == before
    return done.stderr


def build_refused(workspace: Path, says: str) -> str:
    """Check that ``build``, ``publish`` and ``lint`` refuse the workspace's sources alike."""
    root = workspace.parent
    errors = {
        refused(root, *words, "--workspace", workspace, says=says)
        for words in (
            ("build", "--to", root / "out", "--version", "1.0"),
            ("publish", "--to", root / "channel", "--version", "1.0"),
        )
    }
    assert len(errors) == 1
    linted = packyard("lint", "--workspace", workspace, cwd=root)
    assert linted.returncode == 1
    assert set(errors.copy().pop().splitlines()) <= set((composing(linted.stdout) + linted.stderr).splitlines())
    return errors.pop()


def test_the_tiny_workspace_is_all_right(built: Path, tmp_path: Path) -> None:
    """So that what is refused below is refused for the fault in it."""
    assert "parallelism: 2 # {" in (built / "job.yaml").read_text()
    assert publish(tmp_path / "tiny", tmp_path / "channel").returncode == 0


# What authors write.


_PATCH = "packages/bert/patches/job.yaml"
_BASE = "bases/single-node/kustomization.yaml"


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        (PACKAGE_FILE, "base: single-node", "base: singel-node", r"13:\d+: .*base: no folder .*mean 'single-node'\?"),
        (PACKAGE_FILE, "[nfs]", "[nsf]", r"14:\d+: .*storage: no folder 'nsf' in .*storage \(did you mean 'nfs'\?\)"),
        (PACKAGE_FILE, "setters:", "seters:", r"9:\d+: .*did you mean 'setters'"),
        (PACKAGE_FILE, "target: {kind", "target: {kin", r"17:\d+: .*did you mean 'kind'"),
        (PACKAGE_FILE, "packyard/v1", "packyard/v2", r"1:.*packyard/v1"),
        (PACKAGE_FILE, "WORKERS:", "WORKER:", r"10: setters\.WORKER: reaches nothing .* \(did you mean 'WORKERS'\?\)"),
        (PACKAGE_FILE, 'WORKERS: "2"', "WORKERS: two", r"10: setters\.WORKERS: WORKERS takes a whole number"),
        (PACKAGE_FILE, "useCases:", "useCases:\n  single-node/nfs/x: {base: single-node}", "inside another use case"),
        (PACKAGE_FILE, "patches/job.yaml", "patches/jbo.yaml", r"16:\d+: .*\(did you mean 'patches/job\.yaml'\?\)"),
        (_PATCH, "containers/0/image", "containers/1/image", r"job\.yaml:\d+.*path /spec/template/spec/containers/1"),
        (_BASE, "- job.yaml", "- job.yaml\n- .", r":5:3: resources: .* circle: single-node -> single-node"),
        ("packyard.yaml", "LICENSE", "LICENCE", r"packyard\.yaml:5:10: license: no file 'LICENCE'"),
    ],
)
def test_a_fault_of_an_author_is_refused_at_its_place(tiny: Path, path: str, old: str, new: str, says: str) -> None:
    edit(tiny, path, old, new)
    build_refused(tiny, says)


def test_an_output_directory_that_holds_something_else(built: Path, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "bert").mkdir(parents=True)
    (tmp_path / "out" / "bert" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("")
    edit(built, "job.yaml", "bert:1", "bert:2")
    for out, says in (
        ("out", r"out/bert: holds something that packyard did not build \(choose another --to"),
        ("built", r"built/bert: was changed since it was built: .*single-node/nfs/job\.yaml"),
        ("file/out", "file: is a file, and a folder is needed here"),
    ):
        refused(tmp_path, "build", "--workspace", tiny, "--to", tmp_path / out, "--version", "1.0", says=says)


# Channels.


def test_no_network(tmp_path: Path) -> None:
    with socket.socket() as taken:  # a port that nobody listens on
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/models"
        for words in (("get", "bert", "--to", tmp_path), ("list",)):
            error = refused(tmp_path, *words, "--from", url, says=re.escape(url))
            assert len(error.splitlines()) <= 2


# What users set.


def test_an_unknown_setter(built: Path) -> None:
    for words in (("WORKER", "3"), ("WORKER=3",), ("--unset", "WORKER")):
        says = r"Krmfile: setter 'WORKER' is not found \(did you mean 'WORKERS'\?\)"
        refused(built, "set", ".", *words, says=says)
    says = r"setter 'WORKER' is in no package below .*did you mean 'WORKERS'\?"
    refused(built, "set", built.parent, "WORKER=3", "-R", says=says)


@pytest.mark.parametrize("value", ["two", "0"])
def test_a_value_of_the_wrong_type(built: Path, value: str) -> None:
    says = r"Krmfile:\d+: WORKERS takes a whole number .*, not .*packyard set \. WORKERS="
    refused(built, "set", ".", f"WORKERS={value}", says=says)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("job.yaml", b"a: [1\n"),
        ("job.yaml", b'a: Gr\xfc\xdfe # {"$openapi":"WORKERS"}\n'),
        ("Krmfile", b"a: 1\na: 2\n"),
        ("Krmfile", b"a: [1\n"),
        ("Krmfile", b"a: Gr\xfc\xdfe\n"),
    ],
)
def test_setting_in_files_that_are_broken(built: Path, path: str, text: bytes) -> None:
    data = (built / path).read_bytes()
    (built / path).write_bytes(data + text)
    for words in (("set", ".", "WORKERS=3"), ("setters", ".")):
        refused(built, *words, says=rf"{path}:\d+")
    before = state(built)
    linted = packyard("lint", ".", cwd=built)
    assert linted.returncode == 1
    assert re.search(rf"{path}:\d+.* error: ", linted.stdout)
    assert state(built) == before


# Wrong usage.


@pytest.mark.parametrize(
    "words",
    [
        ("biuld",),
        ("build",),
        ("build", "--to", "out"),
        ("build", "--to", "out", "--version"),
        ("build", "--to", "out", "--version", "1.0", "--no-such-option"),
        ("publish", "--version", "1.0"),
        ("publish", "--to", "channel"),
        ("get",),
        ("get", "bert", "resnet"),
        ("set",),
        ("set", "."),
        ("set", ".", "WORKERS"),
        ("set", ".", "WORKERS=3", "NFS_PATH"),
        ("set", ".", "=3"),
        ("setters", ".", "."),
        ("setters", ".", "--output", "xml"),
        ("render", ".", "."),
        ("logs", "run", "--events", "--tail", "3"),
        ("logs", "run", "--events", "-f"),
        ("new", "--list", "--base", "one"),
        ("build", "--version", "1.0"),
        ("fsck", "channel", "--key", "mine"),
    ],
    ids=" ".join,
)
def test_wrong_usage(built: Path, words: tuple[str, ...]) -> None:
    error = refused(built, *words, says="packyard", code=2)
    assert "packyard biuld" not in error


def test_what_was_refused_can_be_read_by_machines_too(built: Path) -> None:
    """``--output json`` prints a result or nothing, never half of one."""
    refused(built, "set", ".", "WORKERS=two", "--output", "json", says="WORKERS")
    done = packyard("set", built, "WORKERS=3", "--output", "json")
    assert json.loads(done.stdout)
    assert os.linesep + os.linesep not in done.stdout
