"""Real registries, one of each kind for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from channel import registries


@pytest.fixture(scope="session")
def registry3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """distribution 3."""
    with registries.distribution(real.pinned_program("registry"), tmp_path_factory.mktemp("registry3")) as host:
        yield host


@pytest.fixture(scope="session")
def registry2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """distribution 2.8, which lets only digests be deleted."""
    with registries.distribution(real.program("docker-registry"), tmp_path_factory.mktemp("registry2")) as host:
        yield host


@pytest.fixture(scope="session")
def registry_without_deletes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """distribution 3 as it is configured by default: nothing can be deleted."""
    folder: Path = tmp_path_factory.mktemp("registry")
    with registries.distribution(real.pinned_program("registry"), folder, deletes=False) as host:
        yield host


@pytest.fixture(scope="session")
def registry_with_referrers() -> Iterator[str]:
    """A registry that lists what refers to an artifact."""
    with registries.with_referrers(real.pinned_program("referrers-registry")) as host:
        yield host
