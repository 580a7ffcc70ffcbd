from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import socket
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import programs
import reading
import real
import sample
from served import Served


def test_what_is_absent_skips_and_fails_where_all_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PACKYARD_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such is absent: run make tools"):
        real.pinned_program("no-such")
    monkeypatch.setenv("PACKYARD_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="no-such is absent: run make tools"):
        real.pinned_program("no-such")


def test_a_program_of_long_runs_is_required_in_them_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKYARD_REQUIRE_ALL", "1")
    for whole, outcome in ((False, pytest.skip.Exception), (True, pytest.fail.Exception)):
        monkeypatch.setattr(sample, "WHOLE", whole)
        with pytest.raises(outcome, match="no-such is absent: run make"):
            real.seldom_program("no-such")


def test_kubectl_is_built_before_it_is_looked_for_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("tools", "machine"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kubectl").write_text("#!/bin/sh\n")
        (tmp_path / folder / "kubectl").chmod(0o755)
    monkeypatch.setenv(programs.MACHINE, str(tmp_path / "machine"))
    assert real.find_program("kubectl", pinned=False, tools_dir=tmp_path / "tools") == tmp_path / "tools/kubectl"
    assert real.find_program("kubectl", pinned=False, tools_dir=tmp_path) == tmp_path / "machine/kubectl"


def test_kpt_and_the_corpus_are_never_required(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PACKYARD_REQUIRE_ALL", "1")
    monkeypatch.setenv(programs.MACHINE, str(tmp_path))
    for variable in ("PACKYARD_KPT", "PACKYARD_CORPUS"):
        monkeypatch.delenv(variable, raising=False)
    for ask, variable in ((real.kpt, "PACKYARD_KPT=FILE"), (real.corpus, "PACKYARD_CORPUS=DIR")):
        with pytest.raises(pytest.skip.Exception, match=variable):
            ask()
        monkeypatch.setenv(variable.partition("=")[0], str(tmp_path))
        assert ask() == tmp_path


def test_without_a_corpus_the_cases_of_a_test_are_one_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PACKYARD_CORPUS", raising=False)
    (only,) = real.of_corpus(real.corpus_files("zoo"))
    assert "PACKYARD_CORPUS=DIR" in only.marks[0].kwargs["reason"]


def test_a_pinned_program_is_never_taken_from_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv(programs.MACHINE, str(tmp_path))
    assert real.find_program("tool", pinned=False) == tmp_path / "tool"
    assert real.find_program("tool", pinned=True) is None


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


def test_http_server_serves_each_folder_that_it_is_given(http_server: Callable[[Path], str], tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
        with urllib.request.urlopen(http_server(tmp_path / name) + "/f") as answer:
            assert answer.read().decode() == name


def test_a_free_port_is_given_once_and_can_be_listened_on_again_and_again() -> None:
    port = real.free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    for _ in range(2):
        with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
            pass


def test_serve_ends_with_its_block(tmp_path: Path) -> None:
    (tmp_path / "only-here").touch()
    with real.serve(tmp_path) as url:
        urllib.request.urlopen(f"{url}/only-here").close()
    with pytest.raises(urllib.error.URLError):  # there may be another server, of another folder, by now
        urllib.request.urlopen(f"{url}/only-here", timeout=60)


def test_other_pythons_run_and_are_of_other_minor_versions(other_pythons: list[Path]) -> None:
    command = "import sys; print(*sys.version_info[:2])"
    found = [subprocess.check_output([python, "-c", command], text=True).split() for python in other_pythons]
    versions = [tuple(map(int, version)) for version in found]
    assert versions == sorted(set(versions))
    assert all(version >= real.OLDEST_PYTHON and version != sys.version_info[:2] for version in versions)


def test_gnu_tar_says_so(tar: Path) -> None:
    assert b"GNU tar" in subprocess.check_output([tar, "--version"])
