"""The kustomizations that use cases are composed from, written for kustomize: ``OUT/NAME/PATH/kustomization.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.build import tree
from packyard.options.folder import KUSTOMIZATION
from packyard.source import compose, kustomization, package
from packyard.source.workspace import Workspace


def write(workspace: Workspace, names: Sequence[str], out_dir: Path) -> list[Path]:
    """Write the kustomization of every use case, and return the folders; refuse what kustomize would refuse."""
    folders: dict[str, dict[str, bytes]] = {}
    for name in names:
        described = package.read(workspace, name)
        for use_case in described.use_cases:
            path = f"{name}/{use_case.path}"
            compose.plain(workspace, described, use_case)
            written = kustomization.write(workspace, use_case, out_dir.resolve() / path)
            folders[path] = {KUSTOMIZATION: written}
    return [out_dir / path for path in tree.write_folders(folders, out_dir)]
