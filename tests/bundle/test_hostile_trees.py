"""Bundles and workspaces made to harm, from a grammar: refused with a sentence, or harmless; and always soon.

`make fuzz` tries hundreds of each; a number that fails stands in the test's name, and makes the same again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import hostiletrees as hostile
from hostiletrees import MEMORY, SECONDS, Watched

COUNT = 300 if "PACKYARD_FUZZ" in os.environ else 12


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with hostile.watched(tmp_path_factory.mktemp("own")) as watching:
        yield watching


def harmless(commands: Watched, folder: Path, made: str, words: list[str], may_change: tuple[str, ...]) -> int:
    """Run a command in a folder; hold that it is done or refused, soon, in little, and touches only what it may."""
    before = hostile.snapshot(folder, but=may_change)
    code, said, seconds, memory = commands.run(words, folder)
    what = f"{words} of {made}: {code}, {seconds:.1f} s, {memory:.0f} MiB\n{said[-2000:]}"
    assert code in (0, 1), what
    assert "Traceback" not in said, what
    assert code == 0 or said.strip() or words[0] == "lint", what
    assert seconds < SECONDS, what
    assert memory < MEMORY, what
    after = hostile.snapshot(folder, but=may_change)
    assert after == before, what
    return code


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_hostile_workspace_is_refused_or_built(seed: int, commands: Watched, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("a: mine\n")
    made = hostile.workspace(seed, tmp_path / "ws")
    for words in (
        ["build", "--workspace", "ws", "--version", "1.0", "--out", "out", "--no-cache"],
        ["build", "--workspace", "ws", "--kustomization", "--out", "plain"],
        ["lint", "--workspace", "ws", "--no-cache"],
    ):
        harmless(commands, tmp_path, made, words, ("out", "plain"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_hostile_bundle_is_refused_or_used(seed: int, commands: Watched, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("a: mine\n")
    made = hostile.bundle(seed, tmp_path)
    if harmless(commands, tmp_path, made, ["get", "p@1.0", "--from", "ch", "--into", "got"], ("got",)) == 0:
        for words in (["render", "--built-in", "got/p/uses/one"], ["lint", "got/p"]):
            harmless(commands, tmp_path, made, words, ())
