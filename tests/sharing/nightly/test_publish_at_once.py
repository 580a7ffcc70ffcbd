"""Eight processes publish into one directory at once: no entry is lost, and no listed file is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.stores.directory import DirectoryStore

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from sharing.examples import bundle
from packyard.sharing.stores import open_store
from packyard.sharing.publishing.publish import publish
store, number = open_store(sys.argv[2]), sys.argv[3]
sys.stdin.readline()
for version in range(6):
    publish(store, [bundle(f"own-{number}", f"1.{version}"), bundle("shared", f"1.{version}")])
"""


def test_eight_publishers_at_once_lose_nothing(tmp_path: Path) -> None:
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
