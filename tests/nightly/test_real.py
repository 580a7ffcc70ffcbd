"""The servers that answer for kustomize without its start do what the programs do."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import reading
from real import Served

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
        ("string", ["set", "absent", "V", "new"]),
        ("string", ["list-setters", "."]),
        ("integer", ["set", ".", "V", "0x10"]),
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
