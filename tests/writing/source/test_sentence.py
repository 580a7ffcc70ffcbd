"""What packyard.json says that use cases are for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tiny
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import ShippedUseCase
from packyard.writing.build.draft import compose_draft
from packyard.writing.source import workspace

BASE = "bases/one/kustomization.yaml"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
USES = """
  train: {base: one, storage: [claim, export]}
  prepare: {base: one, description: Copies the data.}
  see: {base: one, storage: [claim]}
"""


def described(folder: Path) -> Mapping[str, ShippedUseCase]:
    root = tiny.workspace(folder)
    tiny.write(root / BASE, "# Trains a model. What else there is to say.\n" + _bare(root / BASE))
    tiny.write(root / "overlays/storage/claim/kustomization.yaml", f"# Data is on a claim. It exists.\n{COMPONENT}")
    tiny.write(root / "overlays/storage/export/kustomization.yaml", f"# Data is on an export\n{COMPONENT}")
    tiny.replace(root / "packages/p/package.yaml", "\n  one: {base: one}\n", USES)
    built = compose_draft(workspace.read(root), "1.0", "p").bundle()
    return Bundle.open(built.data).manifest.use_cases


def _bare(file: Path) -> str:
    return "".join(line for line in file.read_text().splitlines(keepends=True) if not line.startswith("#"))


def test_a_use_case_says_what_it_is_for_and_the_storage_tells_several_apart(tmp_path: Path) -> None:
    found = {path.partition("/")[2]: case.description for path, case in described(tmp_path).items()}
    assert found == {
        "train/claim": "Trains a model. Data is on a claim.",
        "train/export": "Trains a model. Data is on an export.",
        "prepare": "Copies the data.",
        "see/claim": "Trains a model.",
    }
