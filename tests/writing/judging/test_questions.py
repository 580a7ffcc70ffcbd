"""`packyard test` says what lint says: its warnings, and of a whole workspace what all packages together can tell."""

from __future__ import annotations

from pathlib import Path

import tiny
from tiny import packyard

IDLE = """\
# Is bigger.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches: [{target: {kind: Job}, patch: '[{op: add, path: /spec/completions, value: 2}]'}]
"""


def test_warnings_of_lint_are_told_once_and_pass(workspace: Path, tmp_path: Path) -> None:
    tiny.replace(workspace / "bases/one/cm.yaml", "  labels: {app.kubernetes.io/name: x}\n", "")
    for words in (["p"], []):
        done = packyard("test", *words, cwd=workspace, PATH="")
        assert done.returncode == 0, done.stderr
        (warning,) = (line for line in done.stderr.splitlines() if line.startswith("warning: "))
        assert warning.startswith("warning: bases/one/cm.yaml:3:1: the ConfigMap has no label")
        assert warning.endswith("[no-labels]")
    done = packyard("publish", "--version", "1.0", "--to", tmp_path / "channel", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "1 warning by packyard lint\n" in done.stderr


def test_a_whole_workspace_fails_on_what_lint_refuses_of_it(workspace: Path) -> None:
    assert packyard("test", cwd=workspace, PATH="").returncode == 0
    tiny.write(workspace / "overlays/options/big/kustomization.yaml", IDLE)
    (error,) = (line for line in packyard("lint", cwd=workspace).stdout.splitlines() if ": error: " in line)
    done = packyard("test", cwd=workspace, PATH="")
    assert done.returncode == 1
    assert f" workspace: {error}\n" in done.stderr
    tiny.replace(workspace / "bases/one/cm.yaml", "data:\n  a", "dta:\n  a")
    says = [line for line in packyard("test", cwd=workspace, PATH="").stderr.splitlines() if "'dta'" in line]
    assert len(says) == 1, "what is said of a package is not said again"
    tiny.replace(workspace / "packages/p/package.yaml", "base: one", "base: two")
    assert packyard("test", cwd=workspace, PATH="").stdout.split()[4:] == ["p", "build", "failed"]
