"""A pipeline's ``configPath``, which a stranger wrote: a YAML file of the package and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import reading
from packyard.cli import main as command_line
from tiny import packyard

KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: x}
pipeline:
  mutators:
  - image: apply-setters:v0.2
    configPath: CONFIG
"""
SETTERS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {app: foo}\n"
FIELD = "name: foo # kpt-set: ${app}\n"


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line here, for its exit code and what it said on stderr."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lambda *words: (command_line.main(words), capsys.readouterr().err)


def make(root: Path, config_path: str) -> Path:
    root.mkdir()
    (root / "Kptfile").write_text(KPTFILE.replace("CONFIG", config_path), "utf-8")
    (root / "f.yaml").write_text(FIELD, "utf-8")
    return root


@pytest.mark.parametrize(
    "config_path",
    [
        *("../setters.yaml", "sub/../setters.yaml", "sub/../../setters.yaml", "./../setters.yaml", "..", "."),
        *("ABSOLUTE", "/etc/passwd", "//setters.yaml", "/dev/zero", "/proc/self/environ", "setters", "setters.json"),
        *('"a\\0b.yaml"', '"\\e[31m.yaml"', "a" * 5000, "~/setters.yaml", "${HOME}/setters.yaml", "sub"),
    ],
)
def test_a_config_path_that_is_no_yaml_file_of_the_package_is_refused(
    tmp_path: Path, config_path: str, run: Run
) -> None:
    outside = tmp_path / "setters.yaml"
    outside.write_text(SETTERS, "utf-8")
    root = make(tmp_path / "pkg", config_path.replace("ABSOLUTE", str(outside)))
    for name in ("setters.yaml", "sub/s.yaml"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(SETTERS, "utf-8")
    before = reading.files(tmp_path)
    for words in (["set", str(root), "app=bar"], ["setters", str(root)]):
        code, said = run(*words)
        assert code == 1
        assert "Kptfile:6:5: configPath " in said
        assert "is not a YAML file of the package" in said
        assert "\x1b" not in said
    assert reading.files(tmp_path) == before


def pipe(file: Path) -> None:
    os.mkfifo(file)


def link_out(file: Path) -> None:
    file.symlink_to(file.parent.parent / "outside.yaml")


def link_to_itself(file: Path) -> None:
    file.symlink_to(file.name)


def link_to_a_device(file: Path) -> None:
    file.symlink_to("/dev/zero")


def too_large(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(65 << 20)


def deep(file: Path) -> None:
    file.write_text("data: " + "[" * 5000, "utf-8")


@pytest.mark.parametrize("name", ["setters.yaml", "Kptfile", "sub/Kptfile"])
@pytest.mark.parametrize("make_file", [pipe, link_out, link_to_itself, link_to_a_device, too_large, deep])
def test_a_file_of_a_kpt_package_may_be_anything(tmp_path: Path, name: str, make_file: Callable[[Path], None]) -> None:
    """The package is refused, or the file of no use here; nobody waits, and nothing outside is written."""
    (tmp_path / "outside.yaml").write_text(SETTERS, "utf-8")
    root = make(tmp_path / "pkg", "setters.yaml")
    (root / "setters.yaml").write_text(SETTERS, "utf-8")
    (root / "sub").mkdir()
    (root / name).unlink(missing_ok=True)
    make_file(root / name)
    done = packyard("set", root, "app=bar", XDG_STATE_HOME=str(tmp_path / "state"))
    assert done.returncode in (0, 1), done.stderr
    assert done.returncode == 0 or str(root) in done.stderr, done.stderr
    assert (tmp_path / "outside.yaml").read_text("utf-8") == SETTERS
