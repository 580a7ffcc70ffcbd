"""A use case as what it is: the kustomization of its base, its overlays and its patches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from packyard.errors import InputError, Problem
from packyard.source import parts, ranks
from packyard.source.accumulate import Expanded, accumulate
from packyard.source.package import Package, UseCase
from packyard.source.parts import Part, Patch
from packyard.source.workspace import Workspace
from packyard.text import layout
from packyard.text.scalar import double_quoted


def read(workspace: Workspace, package: Package, use_case: UseCase) -> Part:
    """Read the parts of a use case, as one part that builds on them."""
    part = Part(
        folder=package.folder,
        resources=(parts.read(workspace.root_dir / "bases" / use_case.base, "Kustomization"),),
        components=tuple(parts.read(workspace.root_dir / "overlays" / name, "Component") for name in use_case.overlays),
        patches=tuple(
            parts.read_patch(package.folder / entry.path, entry.target, entry.pods) for entry in use_case.patches
        ),
        krmfile=parts.read_krmfile(package.folder),
    )
    if sum(each.size for each in (*part.resources, *part.components)) > parts.MAX_PARTS:
        message = f"use case {use_case.path} is made of more than {parts.MAX_PARTS} kustomizations"
        raise InputError(Problem(message, file=package.file, line=use_case.line))
    return part


def write(workspace: Workspace, package: Package, use_case: UseCase) -> dict[str, bytes]:
    """Return what a use case is as plain kustomizations, files by their path, for kustomize to build.

    Patches of pods, which kustomize does not know, are written as the operations that they come to.
    """
    trace: list[Expanded] = []
    part = read(workspace, package, use_case)
    last = ranks.add(accumulate(part, trace=trace))
    files: dict[str, bytes] = {}
    _write(part, "", "Kustomization", iter(trace), files, last)
    return files


def _write(
    part: Part, where: str, kind: str, trace: Iterator[Expanded], files: dict[str, bytes], last: Expanded | None = None
) -> bool:
    """Write one part into the folder ``where``, and what it builds on into folders below, in the order of ``trace``.

    Its own patches are followed by ``last``. Say whether there is anything to do: kustomize refuses a kustomization
    that is empty.
    """
    names: dict[str, list[str]] = {"resources": [file.name for file in part.files], "components": []}
    files.update((f"{where}{file.name}", file.read_bytes()) for file in part.files)
    for key, child_kind, children in (
        ("resources", "Kustomization", part.resources),
        ("components", "Component", part.components),
    ):
        for number, child in enumerate(children):
            name = f"{number}-{child.folder.name}"
            if _write(child, f"{where}{name}/", child_kind, trace, files):
                names[key].append(name)
    lines = [line for key, listed in names.items() if listed for line in (f"{key}:", *(f"- {name}" for name in listed))]
    if part.generated:
        lines += ["configMapGenerator:", *(line for made in part.generated for line in made.lines())]
        files.update((f"{where}{file.name}", file.read_bytes()) for made in part.generated for file in made.files)
    patches: list[str] = []
    changes = [each for change in part.patches for each in _plain(change, next(trace))]
    for target, data in [*changes, *_operations(last or [])]:
        name = f"patch-{len(files)}.json6902"
        files[f"{where}{name}"] = data
        patches.append(f"- path: {name}")
        if target:
            patches += ["  target:", *(f"    {key}: {double_quoted(text)}" for key, text in target.items())]
    lines += ["patches:", *patches] if patches else []
    header = [f"apiVersion: {parts.HEADERS[kind]}", f"kind: {kind}"]
    if lines:
        files[f"{where}kustomization.yaml"] = ("\n".join([*header, *lines]) + "\n").encode()
    return bool(lines)


def _plain(change: Patch, expanded: Expanded) -> list[tuple[Mapping[str, str], bytes]]:
    """Return a patch as kustomize's own, target and text; one of pods is many."""
    if change.pods is None:
        return [(change.target or {}, change.document.source.text.encode())]
    return _operations(expanded)


def _operations(expanded: Expanded) -> list[tuple[Mapping[str, str], bytes]]:
    found: list[tuple[Mapping[str, str], bytes]] = []
    for (version, kind, namespace, name), operations in expanded:
        group, _, version = version.rpartition("/")
        target = {"group": group, "version": version, "kind": kind, "namespace": namespace, "name": name}
        found.append(({key: re.escape(text) for key, text in target.items() if text}, layout.write(operations)))
    return found
