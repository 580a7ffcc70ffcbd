"""Differences from kustomize 3.8.7 whose packages are too large for tests/cases/cfg/."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from real import Kustomize
from tiny import inside

HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
SETTER = """\
    io.k8s.cli.setters.V:
      pattern: {pattern}
      x-k8s-cli: {{setter: {{name: V, value: o}}}}
"""
SUBSTITUTION = """\
    io.k8s.cli.substitutions.{name}:
      x-k8s-cli:
        substitution:
          name: {name}
          pattern: ${{{inner}}}
          values: [{{marker: '${{{inner}}}', ref: '#/definitions/io.k8s.cli.{kind}.{inner}'}}]
"""
_NAMES = [f"S{number}" for number in range(102)]
CHAIN = SUBSTITUTION.format(name="S0", inner="V", kind="setters") + "".join(
    SUBSTITUTION.format(name=name, inner=inner, kind="substitutions") for inner, name in pairwise(_NAMES)
)


@pytest.mark.parametrize(
    ("definitions", "comment", "says"),
    [
        (SETTER.format(pattern=".*") + CHAIN, "S101", "holds more than 99 others"),
        (SETTER.format(pattern="a?" * 3000), "V", "more than 4096 characters"),
    ],
)
def test_patterns_and_substitutions_have_bounds(
    kustomize3: Kustomize, tmp_path: Path, definitions: str, comment: str, says: str
) -> None:
    (tmp_path / "Krmfile").write_text(HEADER + definitions)
    (tmp_path / "r.yaml").write_text(f'x: o # {{"$openapi":"{comment}"}}\n')
    assert says in inside("cfg", "set", ".", "V", "n", cwd=tmp_path).stderr
    assert kustomize3("cfg", "set", ".", "V", "n", cwd=tmp_path).returncode == 0
