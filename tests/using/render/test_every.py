"""Every use case of a package at once, and values that are set in a copy."""

import os
import shutil
from pathlib import Path

import pytest

import reading
import tiny
from core.files import krmfiles
from packyard.core.bundle.archive import Limits
from packyard.core.files.tree import Tree
from packyard.using.render import every
from using.options import optioned


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return optioned.package(tmp_path)


def test_every_use_case_is_rendered_into_a_file_of_its_own_and_options_are_none(package: Path, tmp_path: Path) -> None:
    tiny.write(tmp_path / "values.yaml", "PVC_NAME: workdisk\nRUN_NAME: second\n")
    before, out = reading.files(package), tmp_path / "out"
    printed = tiny.done("render", package, "--built-in", "--values", tmp_path / "values.yaml", "--to", out)
    assert printed.splitlines() == [
        str(out / f"{path}.yaml") for path in (optioned.MULTI, optioned.SINGLE, f"{optioned.PREFIX}/volume")
    ]
    assert reading.files(package) == before
    for path in (optioned.MULTI, optioned.SINGLE):
        assert "workdisk" in (out / f"{path}.yaml").read_text()
        assert "second" in (out / f"{path}.yaml").read_text()


def test_a_rendered_file_is_what_render_prints_once_the_values_are_set(package: Path, tmp_path: Path) -> None:
    tiny.write(tmp_path / "values.yaml", "PVC_NAME: workdisk\n")
    use_case = package / optioned.SINGLE
    as_if = tiny.done("render", use_case, "--built-in", "--values", tmp_path / "values.yaml")
    tiny.done("set", use_case, "PVC_NAME=workdisk")
    assert tiny.done("render", use_case, "--built-in") == as_if


def test_what_a_use_case_builds_on_is_no_use_case_of_its_own(package: Path) -> None:
    tiny.write(package / ".hidden/kustomization.yaml", "resources: []\n")
    for path in ("base", "base/deeper", "options/more"):
        tiny.write(package / optioned.SINGLE / path / "kustomization.yaml", "resources: []\n")
    assert every.find(package) == [optioned.MULTI, optioned.SINGLE, f"{optioned.PREFIX}/volume"]


@pytest.mark.parametrize("limits", [Limits(entries=60), Limits(total_size=100_000)])
def test_more_than_a_package_can_be_is_not_copied(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    """As where DIR is the home folder; a repository around the package does not count."""
    monkeypatch.setattr(every, "LIMITS", limits)
    tiny.write(tmp_path / "values.yaml", "PVC_NAME: workdisk\n")
    words = ("render", package, "--built-in", "--values", tmp_path / "values.yaml", "--to", tmp_path / "out")
    for name in range(60):
        tiny.write(package / f".git/{name}", "x" * 10_000)
    tiny.run(*words)
    assert (tmp_path / "out").is_dir()
    shutil.move(package / ".git", package / "git")
    shutil.rmtree(tmp_path / "out")
    said = tiny.refused(*words)
    assert f"{package}: has more than " in said
    assert "(name the folder of a package, or of a use case)" in said


def test_says_what_of_a_package_cannot_be_copied(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    tiny.write(tmp_path / "values.yaml", "PVC_NAME: workdisk\n")
    words = ("render", package, "--values", tmp_path / "values.yaml", "--to", tmp_path / "out")
    with monkeypatch.context() as full:
        full.setattr(shutil, "copytree", fill)
        assert f"{package}: cannot be copied: [Errno 28] No space left on device" in tiny.refused(*words)
    os.mkfifo(package / "pipe")
    said = tiny.refused(*words)
    assert said.startswith(f"error: {package}/pipe: cannot be copied: ")
    assert "packyard-" not in said


def test_what_a_directory_builds_on_beside_it_is_copied_too(tmp_path: Path) -> None:
    tiny.write(tmp_path / "base/kustomization.yaml", "resources: [a.yaml, ../more/base]\n")
    tiny.write(tmp_path / "base/a.yaml", "kind: A\n")
    tiny.write(tmp_path / "more/base/kustomization.yaml", "resources: [b.yaml]\n")
    tiny.write(tmp_path / "more/unused.yaml", "kind: A\n")
    tiny.write(tmp_path / "use-case/kustomization.yaml", "resources: [../base, b.yaml]\n")
    tiny.write(tmp_path / "use-case/b.yaml", 'kind: B\nx: "" # {"$openapi":"X"}\n')
    tiny.write(tmp_path / "use-case/Krmfile", krmfiles.one_setter("X", ""))
    before = reading.files(tmp_path)
    with every.with_values(Tree(tmp_path / "use-case"), {"X": ["1"]}) as copy:
        below = reading.files(copy.root_dir.parent)
        assert (copy.root_dir / "b.yaml").read_text() == 'kind: B\nx: "1" # {"$openapi":"X"}\n'
    assert {*before} - {*below} == {"more/unused.yaml"}
    assert reading.files(tmp_path) == before
