"""A use case as what it is: the kustomization of its base, its overlays and its patches."""

from __future__ import annotations

import os
from pathlib import Path

from packyard.source import parts
from packyard.source.package import Package, UseCase
from packyard.source.parts import Part
from packyard.source.workspace import Workspace
from packyard.text.scalar import double_quoted


def read(workspace: Workspace, package: Package, use_case: UseCase) -> Part:
    """Read the parts of a use case, as one part that builds on them."""
    krmfile = package.folder / "Krmfile"
    return Part(
        folder=package.folder,
        resources=(parts.read(workspace.root_dir / "bases" / use_case.base, "Kustomization"),),
        components=tuple(parts.read(workspace.root_dir / "overlays" / name, "Component") for name in use_case.overlays),
        patches=tuple(parts.read_patch(package.folder / entry.path, entry.target) for entry in use_case.patches),
        krmfile=krmfile if krmfile.is_file() else None,
    )


def write(workspace: Workspace, package: Package, use_case: UseCase, folder: Path) -> bytes:
    """Write what a use case is as a kustomization in ``folder``, for kustomize to build without load restrictions."""

    def relative(path: Path) -> str:
        return Path(os.path.relpath(path, folder)).as_posix()

    lines = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:"]
    lines.append(f"- {relative(workspace.root_dir / 'bases' / use_case.base)}")
    if use_case.overlays:
        lines.append("components:")
        lines += [f"- {relative(workspace.root_dir / 'overlays' / name)}" for name in use_case.overlays]
    if use_case.patches:
        lines.append("patches:")
    for entry in use_case.patches:
        lines.append(f"- path: {relative(package.folder / entry.path)}")
        if entry.target:
            lines.append("  target:")
            lines += [f"    {key}: {double_quoted(text)}" for key, text in entry.target.items()]
    return ("\n".join(lines) + "\n").encode()
