"""The modules of a channel's page without a page: their tests, run by Node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import real

WEB = real.REPOSITORY / "web"


@pytest.fixture(scope="module")
def node() -> Path:
    """Return Node, where the libraries of the page are installed, too."""
    found = real.find_program("node", pinned=False)
    if not found or not (WEB / "node_modules/.installed").exists():
        if os.environ.get("PACKYARD_REQUIRE_WEB") == "1":
            pytest.fail("Node, or the libraries of the page, are absent: make test-web installs the libraries")
        real.lacking("Node with the libraries of the page", remedy="make test-web")
    return found


@pytest.mark.slow
def test_the_modules_do_what_their_tests_say(node: Path, tmp_path: Path) -> None:
    subprocess.run([node, "build.mjs", "test", tmp_path], cwd=WEB, check=True)
    files = sorted(tmp_path.glob("*.test.mjs"))
    assert files
    done = subprocess.run([node, "--test", *files], cwd=WEB, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
