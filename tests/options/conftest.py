"""Fixtures of the options' tests: the packages as users unpack them."""

from __future__ import annotations

from pathlib import Path

import pytest

import real
from options import shipped
from options.shipped import Catalogue


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return shipped.write(tmp_path_factory.mktemp("catalogue"))


@pytest.fixture(params=["kustomize-3", "kustomize-4", "kustomize-5"], scope="session")
def kustomize(request: pytest.FixtureRequest) -> Path:
    """Each of the three."""
    return real.pinned_program(request.param)
