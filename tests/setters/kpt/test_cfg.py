"""`packyard cfg` on a package in kpt's spelling."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: app
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/apply-setters:v0.2
    configMap:
      tag: "1.7"
"""
RESOURCE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.7 # kpt-set: nginx:${tag}
"""


def cfg(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "packyard.cli.main", "cfg", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_cfg_sets_and_lists_what_a_kptfile_gives(tmp_path: Path) -> None:
    (tmp_path / "Kptfile").write_text(KPTFILE, "utf-8")
    (tmp_path / "r.yaml").write_text(RESOURCE, "utf-8")
    done = cfg(tmp_path, "set", ".", "tag", "1.8")
    assert (done.returncode, done.stdout) == (0, './\nset 1 field(s) of setter "tag" to value "1.8"\n')
    assert (tmp_path / "Kptfile").read_text("utf-8") == KPTFILE.replace("1.7", "1.8")
    assert (tmp_path / "r.yaml").read_text("utf-8") == RESOURCE.replace("1.7", "1.8")
    listed = cfg(tmp_path, "list-setters", ".")
    assert listed.returncode == 0
    assert listed.stdout.splitlines()[2].split() == ["tag", "1.8", "1", "No", "No"]
    assert cfg(tmp_path, "set", ".", "other", "1").stderr == 'Error: setter "other" is not found\n'
