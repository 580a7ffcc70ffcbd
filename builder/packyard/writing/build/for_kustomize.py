"""Use cases as what they are composed from, for kustomize to build: ``OUT/NAME/PATH/kustomization.yaml``.

    resources: [bases/BASE]  components: [overlays/programs/…, overlays/storage/STORAGE]  patches: […]

kustomize reads it with ``--load-restrictor LoadRestrictionsNone``, as its parts lie in folders beside it.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

from packyard.core.kubernetes import kustomization
from packyard.core.yaml import strict
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.values import double_quoted
from packyard.using.kustomize.part import Patch
from packyard.writing.build import tree
from packyard.writing.source import compose, package
from packyard.writing.source.package import UseCase
from packyard.writing.source.workspace import Workspace


def write(workspace: Workspace, names: Sequence[str], out_dir: Path) -> list[Path]:
    """Write the kustomization of every use case, and return the folders; refuse what kustomize would refuse."""
    folders: dict[str, dict[str, bytes]] = {}
    for name in names:
        described = package.read(workspace, name)
        for use_case in described.use_cases:
            path = f"{name}/{use_case.path}"
            compose.plain(workspace, described, use_case)
            folders[path] = {kustomization.FILE: to_bytes(workspace, use_case, out_dir.resolve() / path)}
    return [out_dir / path for path in tree.write_folders(folders, out_dir)]


def to_bytes(workspace: Workspace, use_case: UseCase, folder: Path, root_dir: Path | None = None) -> bytes:
    """Return the kustomization.yaml of a use case for a folder, from which it points at the sources.

    ``root_dir`` is a copy of them that holds the libraries, too.
    """

    def way(path: str) -> str:
        return double_quoted(os.path.relpath(root_dir / path if root_dir else workspace.sources.shown(path), folder))

    lines = [*kustomization.header(), "resources:", f"- {way(workspace.base_dir(use_case.base))}"]
    if use_case.overlays:
        lines += ["components:", *(f"- {way(workspace.overlay_dir(*overlay))}" for overlay in use_case.overlays)]
    if use_case.patches:
        lines.append("patches:")
        for patch in use_case.patches:
            path = patch.file
            lines.append(f"- path: {way(path)}" if path else f"- patch: {double_quoted(_text(patch))}")
            lines += ["  target:", *_target(patch.entry)] if patch.target else []
    lines += [f"namespace: {double_quoted(use_case.namespace)}"] if use_case.namespace else []
    return "".join(f"{line}\n" for line in lines).encode()


def _text(patch: Patch) -> str:
    """Return the text of a patch, without its indent in package.yaml; one that begins with ``[`` has to be JSON."""
    text, root = textwrap.dedent(patch.document.source.text).strip("\n"), patch.document.root
    return json.dumps(strict.to_value(root)) if root and text.lstrip().startswith("[") else text


def _target(entry: Node) -> list[str]:
    target = entry.mapping("target") if isinstance(entry, MappingNode) else None
    found = target.entries if target else []
    return [f"    {each.name}: {double_quoted(each.value.value)}" for each in found if isinstance(each.value, Scalar)]
