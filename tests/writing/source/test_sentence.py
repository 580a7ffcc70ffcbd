"""What packyard.json says that use cases are for, and which run before them."""

from __future__ import annotations

import json
from pathlib import Path

import tiny
from commandline import done

BASE = "bases/one/kustomization.yaml"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
USES = """
  train: {base: one, storage: [claim, export], after: [prepare]}
  prepare: {base: one, description: Copies the data.}
  see: {base: one, storage: [claim]}
"""


def said(folder: Path) -> dict[str, dict[str, object]]:
    root = tiny.workspace(folder / "workspace")
    tiny.write(root / BASE, "# Trains a model. What else there is to say.\n" + _bare(root / BASE))
    tiny.write(root / "overlays/storage/claim/kustomization.yaml", f"# Data is on a claim. It exists.\n{COMPONENT}")
    tiny.write(root / "overlays/storage/export/kustomization.yaml", f"# Data is on an export\n{COMPONENT}")
    package = root / "packages/p/package.yaml"
    tiny.write(package, package.read_text().partition("useCases:")[0] + "useCases:" + USES)
    done("build", "p", "--workspace", root, "--version", "1.0", "--out", folder)
    found: dict[str, dict[str, object]] = json.loads((folder / "p/packyard.json").read_text())["useCases"]
    return found


def _bare(file: Path) -> str:
    return "".join(line for line in file.read_text().splitlines(keepends=True) if not line.startswith("#"))


def test_a_use_case_says_what_it_is_for_and_the_storage_tells_several_apart(tmp_path: Path) -> None:
    found = {path.partition("/")[2]: case.get("description") for path, case in said(tmp_path).items()}
    assert found == {
        "train/claim": "Trains a model. Data is on a claim.",
        "train/export": "Trains a model. Data is on an export.",
        "prepare": "Copies the data.",
        "see/claim": "Trains a model.",
    }


def test_what_runs_before_a_use_case_is_named_as_packyard_json_names_it(tmp_path: Path) -> None:
    found = said(tmp_path)
    after = {path: case["after"] for path, case in found.items() if "after" in case}
    (prefix,) = {path.partition("/")[0] for path in found}
    assert after == {f"{prefix}/train/{storage}": [f"{prefix}/prepare"] for storage in ("claim", "export")}
