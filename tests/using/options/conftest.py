"""Fixtures of the options' tests: the packages as users unpack them."""

from __future__ import annotations

import pytest

from real import Served
from using.options import shipped
from using.options.shipped import Catalogue


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return shipped.write(tmp_path_factory.mktemp("catalogue"))


@pytest.fixture(params=["served3", "served4", "served5"])
def kustomize(request: pytest.FixtureRequest) -> Served:
    """Each of the three."""
    served: Served = request.getfixturevalue(request.param)
    return served
