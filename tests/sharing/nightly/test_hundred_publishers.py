"""A hundred publishers of different packages at once, on each real server that promises to lose none of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores import open_store
from sharing.buckets import Opener
from sharing.examples import bundle
from sharing.registries import anywhere

NAMES = [f"package-{number}" for number in range(100)]
REGISTRIES = ["registry3", "registry2", "registry_with_referrers"]


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("server", ["on_versitygw", "on_azurite", "on_gcs", *REGISTRIES])
def test_of_a_hundred_publishers_at_once_none_loses_an_entry(server: str, request: pytest.FixtureRequest) -> None:
    opened: Opener | str = request.getfixturevalue(server)
    address = anywhere(opened) if isinstance(opened, str) else opened().address
    with ThreadPoolExecutor(len(NAMES)) as pool:
        list(pool.map(lambda name: publish(open_store(address), [bundle(name)]), NAMES))
    assert sorted(access.read(open_store(address)).names()) == sorted(NAMES)
    assert list(fsck.check(open_store(address))) == []
