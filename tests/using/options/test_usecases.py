"""What a verb says of a directory that is not what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from using.commands import refused


@pytest.mark.parametrize("words", ["setters pkg", "explain pkg A", "set pkg A=1"])
def test_of_a_package_whose_one_use_case_has_no_setters_that_is_said(tmp_path: Path, words: str) -> None:
    tiny.write(tmp_path / "pkg/run/kustomization.yaml", "resources: [a.yaml]\n")
    said = "error: pkg/run: has no Krmfile (packyard cfg init pkg/run makes one, "
    assert refused(tmp_path, *words.split()).startswith(said)
