"""Many publish into one channel at once: no entry is lost, and no listed file is missing."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from sharing.buckets import Opener
from sharing.examples import bundle, publish
from sharing.registries import anywhere

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from sharing.examples import bundle, publish
from packyard.sharing.stores import open_store
store, number = open_store(sys.argv[2]), sys.argv[3]
sys.stdin.readline()
for version in range(6):
    publish(store, [bundle(f"own-{number}", f"1.{version}"), bundle("shared", f"1.{version}")])
"""
NAMES = [f"package-{number}" for number in range(100)]
REGISTRIES = ["registry3", "registry2", "registry_with_referrers"]


def test_eight_processes_at_once_lose_nothing_in_a_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parents[2]), str(tmp_path)]
    processes = [subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE) for number in range(8)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()
    assert [process.wait(120) for process in processes] == [0] * 8
    listed = {str(entry) for entry in access.read(DirectoryStore(tmp_path)).entries}
    names = ["shared", *(f"own-{number}" for number in range(8))]
    assert listed == {f"{name}@1.{version}" for name in names for version in range(6)}
    assert list(fsck.check(DirectoryStore(tmp_path))) == []


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("server", ["on_versitygw", "on_azurite", "on_gcs", *REGISTRIES])
def test_of_a_hundred_publishers_at_once_none_loses_an_entry(server: str, request: pytest.FixtureRequest) -> None:
    opened: Opener | str = request.getfixturevalue(server)
    address = anywhere(opened) if isinstance(opened, str) else opened().address
    with ThreadPoolExecutor(len(NAMES)) as pool:
        list(pool.map(lambda name: publish(open_store(address), [bundle(name)]), NAMES))
    assert sorted(access.read(open_store(address)).names()) == sorted(NAMES)
    assert list(fsck.check(open_store(address))) == []
