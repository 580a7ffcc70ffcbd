"""A library as a bundle: its files as they are, and in packyard.json the setters that each part defines."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.bundle import manifest
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.core.errors import refuse
from packyard.core.yaml.sources import Sources
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.krmfile import parse_krmfile
from packyard.writing.build import describe
from packyard.writing.build.draft import README, Draft
from packyard.writing.source import library, parts
from packyard.writing.source.workspace import OVERLAYS, Workspace


def draft(here: Workspace, version: str, name: str) -> Draft:
    """Describe a library; every part has to be readable, and what it builds on has to be published."""
    sources = here.sources
    refuse(
        entry.problem("is a folder, which users of this library do not have", "publish it, and name the bundle")
        for entry in library.entries(here.root_dir)
        if entry.path
    )
    members = library.members(sources)
    for path in {here.license_file, README} - {member.path for member in members}:
        if sources.is_file(path):
            members.append(Member(path=path, data=sources.read(path)))
    folders = dict(_parts(here))
    for folder, kind in folders.items():
        parts.read(sources, folder, kind)
    described = Manifest(
        kind=manifest.LIBRARY,
        name=name,
        version=version,
        model={},
        use_cases={folder or ".": _interface(sources, folder) for folder in ("", *sorted(folders))},
    )
    return Draft(manifest=described, members=tuple(members), idle={})


def _parts(here: Workspace) -> Iterator[tuple[str, str]]:
    """Yield the folder and the kind of each part that is its own."""
    kinds = {"bases": "Kustomization", **{f"overlays/{kind}": "Component" for kind in OVERLAYS}}
    for folder, kind in kinds.items():
        for path in filter(here.sources.is_folder, here.sources.list(folder)):
            yield path, kind


def _interface(sources: Sources, folder: str) -> ShippedUseCase:
    file = f"{folder}/{KRMFILE}".lstrip("/")
    if not sources.is_file(file):
        return ShippedUseCase(setters={})
    definitions = parse_krmfile(sources.text(file), sources.memo).definitions
    return ShippedUseCase(setters=describe.values_of(definitions.setters))
