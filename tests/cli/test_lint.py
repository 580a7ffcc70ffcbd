"""The forms of findings, and what the exit code says."""

import json
from pathlib import Path

import pytest

import tiny
from using.options import optioned


def found(*words: object) -> list[dict[str, object]]:
    findings: list[dict[str, object]] = json.loads(tiny.run("lint", *words, "-o", "json")[1])
    return findings


@pytest.mark.parametrize(
    "path",
    [
        *(f"{optioned.MULTI}/{file}" for file in ("mpi-job.yaml", "config-map.yaml", "kustomization.yaml", "Krmfile")),
        *(f"{optioned.OPTIONS}/{file}" for file in ("Krmfile", "spread/kustomization.yaml", "spread/mpi-job.yaml")),
    ],
)
def test_of_a_broken_file_nothing_else_is_found(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = optioned.package(tmp_path)
    assert tiny.run("enable", root / optioned.MULTI, "queue", "spread")[0] == 0
    with (root / optioned.OPTIONS / "queue/queue.yaml").open("a") as file:
        file.write("# Options that are as they were shipped are not tried again.\n")
    before = found(root)
    (root / path).write_text("x: [\n")
    assert [each["file"] for each in found(root) if each not in before] == [f"{root}/{path}"]
    monkeypatch.chdir((root / path).parent)
    assert len([each for each in found(".") if each["file"] == (root / path).name]) <= 1


def test_a_missing_file_is_told_once(tmp_path: Path) -> None:
    root = optioned.package(tmp_path)
    assert tiny.run("enable", root / optioned.MULTI, "queue")[0] == 0
    before = found(root)
    (root / optioned.MULTI / "config-map.yaml").unlink()
    assert [each["rule"] for each in found(root) if each not in before] == ["missing-file"]


def test_warnings_fail_where_they_are_to_fail_and_taste_is_of_workspaces(tmp_path: Path) -> None:
    tiny.write(tmp_path / "päck age/a.yaml", 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1"}\n')
    assert tiny.run("lint", tmp_path / "päck age", "--strict")[:2] == (0, "")
    root = tiny.workspace(tmp_path / "ws")
    tiny.replace(root / "bases/one/cm.yaml", "  labels: {app.kubernetes.io/name: x}\n", "")
    assert "[no-labels]" in tiny.run("lint", "--workspace", root)[1]
    assert [tiny.run("lint", "--workspace", root, *words)[0] for words in ((), ("--strict",))] == [0, 1]


@pytest.mark.parametrize(
    ("here", "target", "use_cases"),
    [
        (".", ".", 2),
        (".", "packages", 2),
        (".", "packages/p/", 1),
        ("packages", "p", 1),
        ("packages/p", ".", 1),
        ("packages/p", "../q", 1),
        ("bases", "../packages/p", 1),
    ],
)
def test_a_folder_of_sources_stands_for_its_packages(
    here: str, target: str, use_cases: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As files alone they are parts of objects, and lack what bases give them."""
    root = tiny.workspace(tmp_path / "ws")
    tiny.another(root, "q")
    monkeypatch.chdir(root / here)
    code, out, errors = tiny.run("lint", target)
    assert (code, out) == (0, "")
    assert f"{use_cases} use case" in errors


def test_rules_are_explained_and_listed() -> None:
    assert "hf_4711" in tiny.run("lint", "--explain", "plain-secret")[1]
    assert "plain-secret" in tiny.run("lint", "--explain")[1]
    assert "did you mean 'plain-secret'?" in tiny.refused("lint", "--explain", "plain-secre")
