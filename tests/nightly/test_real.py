from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import reading
from real import Served


def test_kustomize3_is_3_8_7_and_sets(kustomize3: Path, tmp_path: Path) -> None:
    assert b"v3.8.7 " in subprocess.check_output([kustomize3, "version"])
    (tmp_path / "Krmfile").write_text(
        "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
        "    io.k8s.cli.setters.replicas:\n      x-k8s-cli: {setter: {name: replicas, value: '3'}}\n"
    )
    deployment_file = tmp_path / "deployment.yaml"
    deployment_file.write_text(
        'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  replicas: 3 # {"$openapi":"replicas"}\n'
    )
    subprocess.run([kustomize3, "cfg", "set", tmp_path, "replicas", "5", "-R"], check=True, capture_output=True)
    assert '  replicas: 5 # {"$openapi":"replicas"}\n' in deployment_file.read_text()


SETTER = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.V:
      type: {kind}
      x-k8s-cli:
        setter:
          name: V
          value: x
"""


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("string", ["set", ".", "V", "new"]),
        ("string", ["set", ".", "V", "a: b #c"]),
        ("string", ["set", ".", "V", "-R", "--values=-1"]),
        ("string", ["set", ".", "W", "new"]),
        ("string", ["set", "."]),
        ("string", ["set", "absent", "V", "new"]),
        ("string", ["set", ".", "V", "new", "--no-such-flag"]),
        ("string", ["list-setters", "."]),
        ("string", ["list-setters", ".", "W"]),
        ("integer", ["set", ".", "V", "0x10"]),
        ("integer", ["set", ".", "V", "no"]),
        ("integer", ["set", ".", "V", "2020-01-01"]),  # of a date it panics
    ],
)
def test_served3_sets_as_kustomize3_does(
    kustomize3: Path, served3: Served, tmp_path: Path, kind: str, arguments: list[str]
) -> None:
    files = {"Krmfile": SETTER.format(kind=kind), "r.yaml": 'kind: A\nmetadata:\n  name: a\nv: 3 # {"$openapi":"V"}\n'}
    ours, theirs = both(served3, kustomize3, tmp_path / "package", files, ["cfg", *arguments])
    if theirs[0] == 2:  # behind the first line are goroutines
        theirs[2][1:] = []
    assert ours == theirs


@pytest.mark.parametrize("words", [["version"], ["build"], ["cfg", "set", "absent", "V", "new"]])
def test_shells_have_a_program_that_does_as_kustomize3(
    words: list[str], kustomize3: Path, served_kustomize3: Path, tmp_path: Path
) -> None:
    ours, theirs = (
        subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True)
        for program in (served_kustomize3, kustomize3)
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3", "4", "5"])
@pytest.mark.parametrize(
    ("kustomization", "arguments"),
    [
        (
            "resources: [r.yaml]\nnamespace: ml\n"
            "patches: [{target: {kind: Job}, patch: '[{op: remove, path: /spec/a}]'}]\n",
            ["build", "."],
        ),
        ("resources: [r.yaml, gone.yaml]\n", ["build", "."]),
        ("resource: [r.yaml]\n", ["build", "."]),
        ("resources: [r.yaml]\n", ["build", ".", "--load-restrictor", "LoadRestrictionsNone"]),
        ("resources: [r.yaml]\n", ["build", "absent"]),
        ("resources: [r.yaml]\n", ["edit", "set", "namespace", "ml"]),
        ("", ["version"]),
    ],
)
def test_a_served_kustomize_builds_as_its_program_does(
    version: str, request: pytest.FixtureRequest, tmp_path: Path, kustomization: str, arguments: list[str]
) -> None:
    """One after the other, in one process, and what went wrong before changes nothing."""
    served, program = (request.getfixturevalue(f"{name}{version}") for name in ("served", "kustomize"))
    objects = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {a: 1, b: {c: 08}}\n"
    files = {"kustomization.yaml": kustomization, "r.yaml": objects}
    ours, theirs = both(served, program, tmp_path / "package", files, arguments)
    assert ours == theirs


def both(
    served: Served, program: Path, folder: Path, files: dict[str, str], arguments: list[str]
) -> list[tuple[int, str, list[str], dict[str, bytes]]]:
    """Run a command in the same folder by both: its code, what is printed, and the files afterwards."""

    def run(command: Callable[[], subprocess.CompletedProcess[str]]) -> tuple[int, str, list[str], dict[str, bytes]]:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        done = command()
        found = reading.files(folder)
        shutil.rmtree(folder)
        return done.returncode, done.stdout, done.stderr.splitlines(), found

    real = partial(subprocess.run, [program, *arguments], cwd=folder, capture_output=True, text=True)
    return [run(partial(served, *arguments, cwd=folder)), run(real)]


def test_kustomize5_is_5_7_1(kustomize5: Path) -> None:
    assert subprocess.check_output([kustomize5, "version"], text=True).strip() == "v5.7.1"


def test_tarlist_prints_each_entry_and_refuses_a_broken_stream(tarlist: Path, tmp_path: Path) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("a/b.yaml")
        member.size = 2
        archive.addfile(member, io.BytesIO(b"x\n"))
    archive_file = tmp_path / "a.tar.gz"
    archive_file.write_bytes(gzip.compress(raw.getvalue()))
    digest = hashlib.sha256(b"x\n").hexdigest()
    assert subprocess.check_output([tarlist, archive_file], text=True) == f"a/b.yaml\t0644\t2\t0\t{digest}\n"

    archive_file.write_bytes(archive_file.read_bytes()[:-8] + bytes(8))
    assert subprocess.run([tarlist, archive_file], capture_output=True).returncode == 1
