"""What a use case is for: the sentence of its author, or that of its base, and of its storage where it has several."""

from __future__ import annotations

from pathlib import Path

import tiny
from writing.source.libraries import COMPONENT, composed

USES = """
  train: {base: one, storage: [claim, export]}
  prepare: {base: one, description: Copies the data.}
  see: {base: one, storage: [claim]}
"""


def test_a_use_case_says_what_it_is_for_and_the_storage_tells_several_apart(tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path)
    tiny.write(
        root / "bases/one/kustomization.yaml", "# Trains a model. What else there is to say.\nresources: [cm.yaml]\n"
    )
    tiny.write(root / "overlays/storage/claim/kustomization.yaml", f"# Data is on a claim. It exists.\n{COMPONENT}")
    tiny.write(root / "overlays/storage/export/kustomization.yaml", f"# Data is on an export\n{COMPONENT}")
    tiny.replace(root / "packages/p/package.yaml", "\n  one: {base: one}\n", USES)
    assert {case.use_case.path: case.description for case in composed(root).use_cases} == {
        "train/claim": "Trains a model. Data is on a claim.",
        "train/export": "Trains a model. Data is on an export.",
        "prepare": "Copies the data.",
        "see/claim": "Trains a model.",
    }
