"""A release of a hundred thousand packages; PACKYARD_MANY names a folder in which it goes on where it stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sharing import many_packages

COUNT = 100_000


@pytest.mark.nightly
@pytest.mark.skipif("PACKYARD_MANY" not in os.environ, reason="takes hours: PACKYARD_MANY=FOLDER asks for it")
def test_a_hundred_thousand_packages_are_published_by_processes_that_stay_small() -> None:
    folder = Path(os.environ["PACKYARD_MANY"])
    took = list(many_packages.release(folder, COUNT, workers=2))
    assert all(part["MB"] < 400 for part in took), took
    assert many_packages.resolved(folder, COUNT) == COUNT
