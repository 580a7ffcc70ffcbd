"""`lint` and `test` of a package in use: with an option, with values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tiny

COMPONENT = "# A cache.\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
OPTION = """\
patches:
- target: {kind: Job}
  patch: |-
    apiVersion: batch/v1
    kind: Job
    metadata: {name: any}
    spec:
      template:
        spec:
          volumes:
          - name: cache
            emptyDir: {}
          containers:
          - name: main
            volumeMounts:
            - name: cache
              mountPath: /cache
"""
KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.MEMORY:
      description: Memory of the pod.
      x-k8s-cli: {setter: {name: MEMORY, value: 16Gi}}
    io.k8s.cli.setters.CACHE:
      description: Where the pod has the cache already.
      x-k8s-cli: {setter: {name: CACHE, value: /data}}
"""
MORE = """\
        resources:
          limits:
            memory: 16Gi # {"$openapi":"MEMORY"}
        volumeMounts:
        - name: data
          mountPath: /data # {"$openapi":"CACHE"}
      volumes:
      - {name: data, emptyDir: {}}
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / "bases/one/cm.yaml", tiny.POD + MORE)
    tiny.write(root / "Krmfile", KRMFILE)
    tiny.write(root / "overlays/options/cache/kustomization.yaml", COMPONENT + OPTION)
    monkeypatch.chdir(root)
    return root


def found(*words: str, without: str = "no-labels|sidecar|token-mounted|no-resources|fixed-name") -> list[str]:
    out = tiny.run("lint", "p", *words)[1]
    return [line for line in out.splitlines() if not re.search(rf"\[({without})\]|^  composed: ", line)]


def test_lint_finds_what_an_option_and_a_value_break_together(root: Path) -> None:
    assert root
    assert found() == found("--option", "cache") == found("CACHE=/c") == []
    (line,) = found("--option", "cache", "CACHE=/cache")
    assert line.startswith("overlays/options/cache/kustomization.yaml:5:1: warning: with --option cache CACHE=/cache, ")
    assert "no container mounts volume 'data' [volume-never-mounted]" in line
    (line,) = found("MEMORY=64GB")
    assert line.startswith("bases/one/cm.yaml:16:21: error: with MEMORY=64GB, '64GB' is not an amount of memory")


@pytest.mark.parametrize("verb", ["lint", "test"])
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--option", "cach"], "there is no option 'cach' (did you mean 'cache'?)"),
        (["MEMRY=1"], "setter 'MEMRY' is in no package below p/uses (did you mean 'MEMORY'?)"),
    ],
)
def test_a_use_that_is_for_no_package_is_refused(verb: str, words: list[str], says: str, root: Path) -> None:
    assert root
    said = tiny.refused(verb, "p", *words)
    assert says in said
    assert "/packyard-" not in said
