"""A pipeline's ``configPath``, which a stranger wrote: a YAML file of the package and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import reading
from packyard.cli import main as command_line

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
