"""Completion, in a real bash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.POLICY:
      enum: [Always, Never]
      x-k8s-cli:
        setter:
          name: POLICY
          value: Always
    io.k8s.cli.setters.PORT:
      x-k8s-cli:
        setter:
          name: PORT
          value: "80"
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: app
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/apply-setters:v0.2
    configMap:
      TAG: "1.7"
      DEBUG: "true"
"""
TAGGED = "image: nginx:1.7 # kpt-set: nginx:${TAG}\ndebug: true # kpt-set: ${DEBUG}\nhost: a # kpt-set: ${HOST}\n"


def complete(folder: Path, *words: str) -> list[str]:
    command = folder / "bin" / "packyard"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m packyard.cli.main "$@"\n', "utf-8")
    command.chmod(0o755)
    listed = " ".join(f"'{word}'" for word in ("packyard", *words))
    script = f"""
eval "$(packyard completion bash)"
COMP_WORDS=({listed}); COMP_CWORD={len(words)}
_packyard
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "Krmfile").write_text(KRMFILE, "utf-8")
    both = tmp_path / "kpt" / "both"
    both.mkdir(parents=True)
    (both.parent / "Kptfile").write_text(KPTFILE, "utf-8")
    (both.parent / "app.yaml").write_text(TAGGED, "utf-8")
    (both / "Kptfile").write_text(KPTFILE.replace('      DEBUG: "true"\n', ""), "utf-8")
    (both / "Krmfile").write_text(KRMFILE, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["sette"], ["setters"]),
        (["set", "pk"], ["pkg"]),
        (["set", "pkg", ""], ["POLICY=", "PORT="]),
        (["set", "pkg", "PO"], ["POLICY=", "PORT="]),
        (["set", "pkg", "POLICY="], ["POLICY=Always", "POLICY=Never"]),
        (["set", "pkg", "POLICY", "N"], ["Never"]),
        (["set", "-R", "pkg", "PORT=80", "POL"], ["POLICY="]),
        (["explain", "pkg", "POR"], ["PORT"]),
        (["set", "pkg", "--unset", "PO"], ["POLICY", "PORT"]),
        (["set", "kpt", ""], ["DEBUG=", "HOST=", "TAG="]),
        (["set", "kpt", "TAG=2", "HO"], ["HOST="]),
        (["set", "kpt", "DEBUG="], ["DEBUG=false", "DEBUG=true"]),
        (["set", "kpt/both", ""], ["POLICY=", "PORT=", "TAG="]),
        (["explain", "kpt", "T"], ["TAG"]),
        (["cfg", "delete-s"], ["delete-setter", "delete-subst"]),
        (["cfg", "set", "kpt", ""], ["DEBUG", "HOST", "TAG"]),
        (["cfg", "set", "pkg", "POLICY", "A"], ["Always"]),
        (["cfg", "delete-setter", "pkg", "POR"], ["PORT"]),
        (["get", "resnet50v1-5-fp32-t"], ["resnet50v1-5-fp32-training-k8s"]),
    ],
)
def test_bash_completes(package: Path, words: list[str], found: list[str]) -> None:
    assert complete(package, *words) == found
