"""Use cases as what they are composed from, for kustomize to build: ``OUT/NAME/PATH/kustomization.yaml``.

    resources: [bases/BASE]  components: [overlays/programs/…, overlays/storage/STORAGE]  patches: […]

kustomize reads it with ``--load-restrictor LoadRestrictionsNone``, as its parts lie in folders beside it. It knows no
patches of pods: a part that has some is copied below ``parts``, with what they came to in this use case.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packyard.core.kubernetes import kustomization
from packyard.core.kubernetes.kinds import group_of
from packyard.core.yaml import strict
from packyard.core.yaml.document import entries
from packyard.core.yaml.node import Node, Scalar
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import double_quoted
from packyard.using.kustomize.accumulate import PatchedPods
from packyard.using.kustomize.part import Part, Patch
from packyard.writing.source import compose, pod_components
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.workspace import Workspace

#: Where copies of parts lie.
_PARTS = "parts"


def to_files(
    workspace: Workspace, package: Package, use_case: UseCase, folder: Path, root_dir: Path | None = None
) -> dict[str, bytes]:
    """Return the kustomization.yaml of a use case for a folder, from which it points at the sources, and copied parts.

    ``root_dir`` is a copy of the sources that holds the libraries, too.
    """
    base, overlays, patched = compose.patch_pods(workspace, package, use_case)
    by_folder: dict[str, list[PatchedPods]] = {}
    for patched_pods in patched:
        by_folder.setdefault(patched_pods.part.folder, []).append(patched_pods)

    def way(path: str) -> str:
        return double_quoted(os.path.relpath(root_dir / path if root_dir else workspace.sources.shown(path), folder))

    def part_way(part: Part) -> str:
        return double_quoted(f"{_PARTS}/{part.folder}") if _has_pods(part) else way(part.folder)

    lines = [*kustomization.header(), "resources:", f"- {part_way(base)}"]
    overlays = [overlay for overlay in overlays if not _is_idle(overlay, by_folder)]
    if overlays:
        lines += ["components:", *(f"- {part_way(overlay)}" for overlay in overlays)]
    of_pods = [line for patched_pods in by_folder.get(package.folder, ()) for line in _of_pods(patched_pods)]
    if use_case.patches or of_pods:
        lines.append("patches:")
        for patch in use_case.patches:
            path = patch.file
            lines.append(f"- path: {way(path)}" if path else f"- patch: {double_quoted(_text(patch))}")
            lines += ["  target:", *_target(patch.entry)] if patch.target else []
        lines += of_pods
    lines += [f"namespace: {double_quoted(use_case.namespace)}"] if use_case.namespace else []
    copies = {path: data for each in (base, *overlays) if _has_pods(each)
              for path, data in _copies(workspace.sources, each, by_folder)}  # fmt: skip
    text = "".join(f"{line}\n" for line in lines)
    return {kustomization.FILE: text.encode(), **{f"{_PARTS}/{path}": data for path, data in copies.items()}}


def _has_pods(part: Part) -> bool:
    return bool(part.pods) or any(map(_has_pods, (*part.resources, *part.components)))


def _is_idle(part: Part, by_folder: Mapping[str, Sequence[PatchedPods]]) -> bool:
    """Say whether a part is nothing but patches of pods that this use case has not: kustomize builds no empty part."""
    own = (part.objects, part.resources, part.components, part.generated, part.patches, part.replacements)
    return bool(part.pods) and not by_folder.get(part.folder) and not any(own)


def _copies(
    sources: Sources, part: Part, by_folder: Mapping[str, Sequence[PatchedPods]]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a part and of all that it is made of, by their paths, for kustomize to read."""
    for inner in (*part.resources, *part.components):
        yield from _copies(sources, inner, by_folder)
    out = {pods.path for pods in part.pods}
    for file in sorted(part.own_files() - out):
        if sources.is_file(file):
            yield file, sources.read(file)
    if part.pods:
        lines = [line for patched_pods in by_folder.get(part.folder, ()) for line in _of_pods(patched_pods)]
        file, text = pod_components.extended(sources, part, lines)
        yield file, text.encode()


def _of_pods(patched: PatchedPods) -> Iterator[str]:
    """Yield the entry of ``patches`` for what patches of pods did to an object."""
    version, kind, _, name = patched.identity
    yield f"- patch: {double_quoted(json.dumps(strict.to_value(patched.operations)))}"
    yield f"  target: {{group: {double_quoted(group_of(version))}, kind: {kind}, name: {double_quoted(name)}}}"


def _text(patch: Patch) -> str:
    """Return the text of a patch, without its indent in package.yaml; one that begins with ``[`` has to be JSON."""
    text, root = textwrap.dedent(patch.document.source.text).strip("\n"), patch.document.root
    return json.dumps(strict.to_value(root)) if root and text.lstrip().startswith("[") else text


def _target(entry: Node) -> list[str]:
    words = [each for each in entries(entry.get("target")) if isinstance(each.value, Scalar)]
    return [f"    {word.name}: {double_quoted(word.text)}" for word in words]
