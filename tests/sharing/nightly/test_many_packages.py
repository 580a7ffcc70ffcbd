"""A release of a hundred thousand packages; PACKYARD_MANY names a folder in which it goes on where it stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sample
from sharing import many_packages

COUNT = 100_000


@pytest.mark.nightly
@pytest.mark.skipif(not sample.WHOLE, reason="takes hours: make soak")
def test_a_hundred_thousand_packages_are_published_by_processes_that_stay_small(tmp_path: Path) -> None:
    folder = Path(os.environ.get("PACKYARD_MANY", tmp_path))
    took = list(many_packages.release(folder, COUNT, workers=2))
    assert all(part["MB"] < 400 for part in took), took
    assert many_packages.resolved(folder, COUNT) == COUNT
