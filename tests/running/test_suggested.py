"""Every command that messages of runs suggest is one that packyard or kubectl understands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import packyard
from packyard.running.runs.kubectl import Kubectl
from running import suggested

_CODE = Path(packyard.__file__).parent
_MODULES = sorted([*(_CODE / "running").rglob("*.py"), *(_CODE / "cli/running").rglob("*.py")])


def found(program: str) -> Iterator[tuple[str, list[str]]]:
    for file in _MODULES:
        for line, words in suggested.of_module(file):
            if words[0] == program:
                yield f"{file.relative_to(_CODE)}:{line}", words


def test_packyard_understands_each_command_of_packyard() -> None:
    typed = [*found("packyard")]
    assert len(typed) > 30  # they are found at all
    refused = [
        f"{place}: {' '.join(words)}: {why}" for place, words in typed if (why := suggested.check_packyard(words))
    ]
    assert not refused


@pytest.mark.nightly
def test_kubectl_understands_each_command_of_kubectl(client: Kubectl) -> None:
    refused = [
        f"{place}: {' '.join(words)}: {why}"
        for place, words in found("kubectl")
        if (why := suggested.check_kubectl(words, client))
    ]
    assert not refused
