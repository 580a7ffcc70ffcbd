"""YAML of every form that kustomize 3.8.7 can read: ``cfg set`` gives the same objects, comments and Krmfile values.

The cases are those of `odd_yaml` that leave out what it loses, set in batches by ``-R``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amount import tries
from commandline import done
from odd_yaml import Case, Maker, comments, leaves
from packyard.core.yaml.values import implicit_type
from served import Cfg

CASES = min(tries(100), 2000)
BATCH = 100


def objects(text: str) -> dict[tuple[Any, ...], object]:
    """Return what kustomize reads at each path."""
    return {path: (leaf[1], kind(leaf)) if leaf[0] == "scalar" else leaf for path, leaf in leaves(text).items()}


def kind(leaf: tuple[Any, ...]) -> str:
    _, value, tag, _, is_plain = leaf
    return tag or (implicit_type(value) if is_plain else "string")


def differences(case: Case, ours: Path, theirs: Path) -> list[str]:
    found = []
    texts = [(folder / "r.yaml").read_text("utf-8") for folder in (ours, theirs)]
    if objects(texts[0]) != objects(texts[1]):
        found.append("other objects")
    own, other = ([one.text for one in comments(text)] for text in texts)
    kept = [one for one in own if one in other or " ".join(one.split()[:2]) not in case.own]
    if kept != other:  # theirs loses the comments of items that stay
        found.append(f"other comments: {kept}, {other}")
    definitions = [objects((folder / "Krmfile").read_text("utf-8")) for folder in (ours, theirs)]
    if definitions[0] != definitions[1]:
        found.append("other definitions")
    return [f"{one}\n{case.values}\n{case.text}\n--- ours\n{texts[0]}\n--- theirs\n{texts[1]}" for one in found]


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_the_real_program_reads_and_writes_the_same(first: int, cfg3: Cfg, tmp_path: Path) -> None:
    alike: dict[tuple[object, ...], list[Case]] = {}
    for seed in range(first, min(first + BATCH, CASES)):
        case = Maker(seed, tame=True).make()
        alike.setdefault(tuple((name, *texts) for name, texts in case.values.items()), []).append(case)
    found = []
    for number, cases in enumerate(alike.values()):
        for place, case in enumerate(cases):
            for side in ("ours", "theirs"):
                folder = tmp_path / side / str(number) / str(place)
                folder.mkdir(parents=True)
                (folder / "Krmfile").write_text(case.definitions, "utf-8")
                (folder / "r.yaml").write_text(case.text, "utf-8")
        ((name, texts),) = cases[0].values.items()
        done("cfg", "set", tmp_path / "ours" / str(number), name, *texts, "-R")
        cfg3.done("set", ".", name, *texts, "-R", cwd=tmp_path / "theirs" / str(number))
        for place, case in enumerate(cases):
            found += differences(case, *(tmp_path / side / str(number) / str(place) for side in ("ours", "theirs")))
    assert not found, f"{len(found)} of {CASES}:\n" + "\n".join(found[:3])
