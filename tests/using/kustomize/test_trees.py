"""Our own build of whole trees: what kustomize 5.7.1 builds, or a refusal, never anything else.

Each tree of tests/trees/kustomize/ has `built`, what kustomize built of it (PACKYARD_WRITE=1 records it anew), or
`refused`, what we say instead. What has both is for the composer of sources alone.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.accumulate import accumulate
from packyard.using.kustomize.builtin import build
from packyard.writing.source import parts
from real import Kustomize


def each_with(name: str, but: str = "") -> pytest.MarkDecorator:
    files = sorted(tiny.TREES.glob(f"kustomize/*/{name}"))
    trees = [file.parent for file in files if not (file.parent / but).is_file()]
    return pytest.mark.parametrize("tree", trees, ids=lambda tree: tree.name)


def loaded(text: str) -> list[object]:
    return list(yaml.load_all(text, yaml.CSafeLoader))


def texts(objects: Iterable[object]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in objects)


@each_with("built", but="refused")
def test_a_tree_is_built_as_recorded(tree: Path) -> None:
    assert loaded(build(Tree(tree)).decode()) == loaded((tree / "built").read_text())


@each_with("built")
def test_kustomize_builds_what_is_recorded(kustomize5: Kustomize, tree: Path) -> None:
    built = kustomize5.done("build", tree)
    if os.environ.get("PACKYARD_WRITE"):
        (tree / "built").write_text(built)
    assert built == (tree / "built").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "ports-of-two-protocols",
        "topology-spread",
        "cron-job",
        "nulls",
        "markers-and-default",
        "strategies",
        "replacements",
    ],
)
def test_the_composer_makes_the_same_objects(name: str) -> None:
    tree = tiny.TREES / "kustomize" / name
    composed = accumulate(parts.read(Sources(tree), "", "Kustomization"))
    assert texts(loaded((tree / "built").read_text())) == texts(yaml.safe_load(each.write()) for each in composed)


@each_with("refused")
def test_a_tree_is_refused_by_name(tree: Path) -> None:
    with pytest.raises(InputError) as caught:
        build(Tree(tree))
    assert (tree / "refused").read_text().strip() in str(caught.value)
