"""The keys of generated ConfigMaps, as the real kustomize makes them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

import tiny
from commandline import packyard

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - {name: a, image: "a/b:1", command: [sh, /programs/FILE], volumeMounts: [{name: programs, mountPath: /programs}]}
  volumes: [{name: programs, configMap: {name: programs}}]
"""
FILES = "- {name: programs, files: [src/train.py, serve.py=src/main.py], literals: [a=b=c]}"
STRATEGIC = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: programs}\ndata: {more.py: pass}\n"
OPERATIONS = "- {op: add, path: /data/a~1b.py, value: pass}\n- {op: add, path: /data/more.py, value: pass}\n"


@pytest.mark.parametrize(
    ("generators", "patch", "target", "is_known"),
    [
        (FILES, "", "", True),
        (f"{FILES}\n- {{name: others, files: [src/other.py]}}", "", "", True),
        (f"{FILES}\n- {{name: programs, behavior: merge, literals: [more.py=pass]}}", "", "", True),
        (FILES, STRATEGIC, "", True),
        (FILES, STRATEGIC.replace("programs", "others"), "{kind: ConfigMap, name: prog.*}", True),
        (FILES, OPERATIONS.partition("\n")[2], "{name: programs}", True),
        (FILES, "- {op: add, path: /data, value: {more.py: pass}}", "{kind: ConfigMap}", False),
        (FILES.replace("literals: [a=b=c]", "envs: [src/more.env]"), "", "", False),
    ],
)
def test_lint_finds_just_the_files_that_are_not_generated(
    generators: str, patch: str, target: str, *, is_known: bool, tmp_path: Path, kustomize5: Path
) -> None:
    patches = f"patches:\n- path: patch.yaml\n  {f'target: {target}' if target else ''}\n" if patch else ""
    listed = f"resources: [pod.yaml]\nconfigMapGenerator:\n{generators}\n{patches}"
    for name, text in {"kustomization.yaml": listed, "patch.yaml": patch, "pod.yaml": POD}.items():
        if text:
            tiny.write(tmp_path / name, text)
    for name in ("train.py", "main.py", "other.py", "more.env"):
        tiny.write(tmp_path / "src" / name, "MORE=1\n")
    built = subprocess.run([kustomize5, "build", tmp_path], check=True, capture_output=True).stdout
    (made,) = (each for each in yaml.safe_load_all(built) if each["metadata"]["name"].startswith("programs-"))
    for name in {*made["data"], "more.py", "main.py", "other.py", "a"}:
        tiny.write(tmp_path / "pod.yaml", POD.replace("FILE", name))
        is_found = "no-such-key" in packyard("lint", tmp_path, "--no-cache").stdout
        assert is_found is (is_known and name not in made["data"]), name
