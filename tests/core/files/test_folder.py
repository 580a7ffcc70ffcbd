"""Folders appear whole or not at all; what killed writers left goes with the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from packyard.core.files import folder

#: Writes a folder, and is killed before its last file.
KILLED = """
import os, signal, sys
from packyard.core.files import folder
def files():
    yield "a/b", (b"1",), 0o644
    os.kill(os.getpid(), signal.SIGKILL)
folder.write(sys.argv[1], files())
"""


def test_removes_what_a_killed_writer_left_an_hour_ago_and_not_what_others_write(tmp_path: Path) -> None:
    for name in ("top", "other"):
        assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)]).returncode < 0
    left = {path.name.split(".")[1]: path for path in tmp_path.iterdir()}
    assert set(left) == {"top", "other"}
    folder.write(str(tmp_path / "top"), [])
    assert left["top"].exists(), "its writer may be at work"
    for path in left.values():
        os.utime(path, (0, 0))
    (tmp_path / "top").rmdir()
    folder.write(str(tmp_path / "top"), [])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["top", left["other"].name])
