"""`set` is followed from the word typed to the bytes renamed through the files that docs/design.md lists."""

import os
import re
import sys
from pathlib import Path

import pytest

import packyard
import real
from core.files.krmfiles import field_values, make_package
from packyard.cli.main import main
from packyard.core.yaml import proof

HOUSES = f"{Path(packyard.__file__).parent}/"


def callers() -> list[str]:
    """Return the files of packyard on the way to who asks, each once."""
    frame, files = sys._getframe(2), dict[str, None]()
    while frame is not None:
        files[frame.f_code.co_filename] = None
        frame = frame.f_back
    return [file.removeprefix(HOUSES) for file in reversed(files) if file.startswith(HOUSES)]


def test_set_goes_through_the_files_of_its_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = (real.REPOSITORY / "docs/design.md").read_text("utf-8").partition("## One verb")[2].partition("\n## ")[0]
    listed = re.findall(r"^[0-9]\. `([^`]+)`", section, re.MULTILINE)
    ways: dict[str, list[str]] = {}
    rename, prove = os.rename, proof.apply_to_text

    def renamed(source: str, target: str) -> None:
        ways[Path(target).name] = callers()
        rename(source, target)

    def proved(*arguments: object) -> str:
        ways["bytes"] = callers()
        return prove(*arguments)

    make_package(tmp_path)
    monkeypatch.setattr(os, "rename", renamed)
    monkeypatch.setattr(proof, "apply_to_text", proved)
    assert main(["set", str(tmp_path), "V", "b"]) == 0
    assert field_values(tmp_path) == {"b"}
    assert ways["one.yaml"] == [file for file in listed if "plan" not in file]
    assert [file for file in ways["bytes"] if not file.startswith("core/")] == listed[:4]
    assert len(listed) <= 6
