"""The command that installs an extra can be typed as it is, wherever packyard is from."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from typing import Any

import pytest

from packyard.core import extras

SHA = "ab" * 32


def typed(
    monkeypatch: pytest.MonkeyPatch, recorded: str | None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a shell, with a Python that only prints what it is told, and return that."""

    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return recorded

    def distribution(_: str) -> Any:
        return Installed()

    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    return subprocess.run(
        ["/bin/sh", "-c", extras.install("cloud")], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        ('{"url": "file:///home/me/pack%20yard", "dir_info": {}}', "file:///home/me/pack%20yard"),
        ('{"url": "https://h/p", "vcs_info": {"vcs": "git", "commit_id": "0a"}}', "git+https://h/p@0a"),
        (
            f'{{"url": "https://h/p.whl", "archive_info": {{"hashes": {{"sha256": "{SHA}"}}}}}}',
            f"https://h/p.whl#sha256={SHA}",
        ),
    ],
)
def test_an_extra_comes_from_where_packyard_is_from(
    recorded: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(monkeypatch, recorded).stdout == f"-m pip install packyard[cloud] @ {source}\n"


@pytest.mark.parametrize(
    "recorded", [None, "", "[]", "{", "{}", '{"url": "file:///$(id)"}', '{"url": "x", "vcs_info": {"vcs": "git"}}']
)
def test_without_a_source_nothing_is_installed_from_an_index(
    recorded: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = typed(monkeypatch, recorded)
    assert (told.returncode != 0, told.stdout) == (True, "")
    assert "PACKYARD_SOURCE" in told.stderr
