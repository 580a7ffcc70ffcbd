"""Many publish into one channel at once: no entry is lost, and no listed file is missing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.stores import open_store
from sharing.buckets import Opener
from sharing.examples import bundle, publish
from sharing.registries import anywhere

NAMES = [f"package-{number}" for number in range(100)]
REGISTRIES = ["registry3", "registry2", "registry_with_referrers"]


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("server", ["tmp_path", "on_versitygw", "on_azurite", "on_gcs", *REGISTRIES])
def test_of_a_hundred_publishers_at_once_none_loses_an_entry(server: str, request: pytest.FixtureRequest) -> None:
    opened: Opener | str | Path = request.getfixturevalue(server)
    address = (
        str(opened) if isinstance(opened, Path) else anywhere(opened) if isinstance(opened, str) else opened().address
    )
    with ThreadPoolExecutor(len(NAMES)) as pool:
        list(pool.map(lambda name: publish(open_store(address), [bundle(name)]), NAMES))
    assert sorted(access.read(open_store(address)).names()) == sorted(NAMES)
    assert list(fsck.check(open_store(address))) == []
