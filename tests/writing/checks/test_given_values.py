"""Presets as they are used: a value that no definition refuses, but Kubernetes does, stands at the preset's line."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny

KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.MEMORY:
      description: Memory of the pod.
      x-k8s-cli: {setter: {name: MEMORY, value: 16Gi}}
"""
FILE = "packages/p/files/presets/large.yaml"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of two use cases, with a preset for both."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tiny.workspace(tmp_path / "ws")
    limits = '        resources:\n          limits:\n            memory: 16Gi # {"$openapi":"MEMORY"}\n'
    for name in ("one", "two"):
        tiny.write(root / f"bases/{name}/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"])
        tiny.write(root / f"bases/{name}/cm.yaml", tiny.POD.replace("name: x", f"name: {name}") + limits)
    tiny.replace(root / "packages/p/package.yaml", "one: {base: one}", "one: {base: one}\n  two: {base: two}")
    tiny.write(root / "Krmfile", KRMFILE)
    tiny.write(root / FILE, "# Large nodes.\nMEMORY: 700Gi\n")
    return root


def test_a_value_of_a_preset_that_is_no_quantity_is_found_once_at_its_line(root: Path) -> None:
    assert tiny.run("lint", "--workspace", root)[0] == 0
    tiny.replace(root / FILE, "700Gi", "700GB")
    code, out, _ = tiny.run("lint", "--workspace", root)
    assert code == 1
    lines = out.splitlines()
    (at,) = (number for number, line in enumerate(lines) if " error: " in line)
    assert lines[at].startswith(f"{root / FILE}:2:1: error: '700GB' is not an amount of memory [no-quantity]")
    assert lines[at + 1] == "  composed: p/uses/one/job.yaml:21"
    said = tiny.refused("build", "--workspace", root, "--version", "1", "--out", root / "out")
    assert said.startswith(f"error: {root / FILE}:2:1: '700GB' is not an amount of memory")
