"""Files and folders that appear whole, with the modes and the durability that their writers ask for."""

import os
import stat
from pathlib import Path

import pytest

from packyard.core.files import atomic


@pytest.mark.parametrize("durable", [True, False])
def test_flushes_a_durable_file_before_it_takes_its_place_and_then_its_name(
    durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flush(handle: int) -> None:
        steps.append("flush folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "flush file")
        fsync(handle)

    def move(old: str, new: str) -> None:
        steps.append("move")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", move)
    atomic.write(str(tmp_path / "a"), b"new", mode=0o644, durable=durable)
    assert steps == (["flush file", "move", "flush folder"] if durable else ["move"])
