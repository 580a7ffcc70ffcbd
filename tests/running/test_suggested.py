"""Every command that messages of runs suggest is one that packyard or kubectl understands."""

from collections.abc import Callable, Iterator
from functools import partial
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


def refused(program: str, check: Callable[[list[str]], str]) -> list[str]:
    return [f"{place}: {' '.join(words)}: {why}" for place, words in found(program) if (why := check(words))]


def test_packyard_understands_each_command_of_packyard() -> None:
    assert len([*found("packyard")]) > 30  # they are found at all
    assert refused("packyard", suggested.check_packyard) == []


@pytest.mark.nightly
def test_kubectl_understands_each_command_of_kubectl(client: Kubectl) -> None:
    assert refused("kubectl", partial(suggested.check_kubectl, client=client)) == []
