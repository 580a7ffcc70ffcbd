"""The store in a registry, with real ones."""

from __future__ import annotations

import uuid

import pytest

from channel.store_contract import StoreContract
from packyard.channel.stores import Store
from packyard.channel.stores.oci import OCIStore


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def anywhere(host: str) -> str:
    """Return the address of a channel that nobody else uses."""
    return f"oci://{host}/c-{uuid.uuid4().hex}/models"


class TestRegistry3(StoreContract):
    @pytest.fixture
    def store(self, registry3: str) -> Store:
        return OCIStore(anywhere(registry3))


class TestRegistry2(StoreContract):
    @pytest.fixture
    def store(self, registry2: str) -> Store:
        return OCIStore(anywhere(registry2))


class TestRegistryWithReferrers(StoreContract):
    @pytest.fixture
    def store(self, registry_with_referrers: str) -> Store:
        return OCIStore(anywhere(registry_with_referrers))


class TestRegistryWithoutDeletes(StoreContract):
    @pytest.fixture
    def store(self, registry_without_deletes: str) -> Store:
        return OCIStore(anywhere(registry_without_deletes))
