"""The command that installs an extra can be typed as it is, and never takes a package from an index."""

import subprocess
import sys

import pytest

from packyard.core import extras


def test_an_extra_comes_from_the_source_that_a_variable_names_and_from_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/echo")

    def typed(**environment: str) -> subprocess.CompletedProcess[str]:
        command = ["/bin/sh", "-c", extras.install("cloud")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    source = "git+https://h/p@0a"
    assert typed(PACKYARD_SOURCE=source).stdout == f"-m pip install packyard[cloud] @ {source}\n"
    told = typed()
    assert (told.returncode != 0, told.stdout) == (True, "")
    assert "PACKYARD_SOURCE: the address that packyard was installed from" in told.stderr
