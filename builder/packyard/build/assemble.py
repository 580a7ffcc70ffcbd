"""A package's sources to its bundle: every use case composed, the README rendered, all of it packed."""

from __future__ import annotations

import os

from packyard.build import describe, documented, readme
from packyard.build.draft import MARK, README, Draft
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.source import fragments, idle, preset, scripts
from packyard.source import package as packages
from packyard.source.compose import ComposedPackage, compose
from packyard.source.workspace import Workspace
from packyard.yaml.sharing import Sharing


def assemble(workspace: Workspace, name: str, version: str) -> Bundle:
    """Build the bundle of one package. The same sources and version give the same tar on every machine."""
    return draft(workspace, name, version).bundle(version)


def draft(workspace: Workspace, name: str, version: str) -> Draft:
    """Compose a package for a version, and for all others where nothing but the print of its README differs."""
    with Sharing():
        return _draft(workspace, compose(workspace, packages.read(workspace, name)), version)


def _draft(workspace: Workspace, composed: ComposedPackage, version: str) -> Draft:
    package = composed.package
    rows = {item.use_case.path: item.rows() for item in composed.use_cases}
    objects = {item.use_case.path: item.values() for item in composed.use_cases}
    described = describe.use_cases(composed)
    members = [Member(path=f"{workspace.prefix}/{path}", data=data) for path, data in composed.files.items()]
    members.append(Member(path="LICENSE", data=(workspace.root_dir / workspace.license_file).read_bytes()))
    members += _own_files(package)
    texts = [(os.path.relpath(file, workspace.root_dir), text) for file, text in fragments.find(workspace, package)]
    is_open = readme.only_prints("version", texts)
    context = {
        "name": package.name,
        "version": MARK if is_open else version,
        "prefix": workspace.prefix,
        "model": package.model,
        "presets": preset.read_all(package),
        **documented.context(composed, rows, objects, described),
    }
    members.append(Member(path=README, data=readme.render(texts, context)))
    return Draft(
        name=package.name,
        version="" if is_open else version,
        model=package.model,
        members=tuple(members),
        use_cases={f"{workspace.prefix}/{path}": item for path, item in described.items()},
        images=describe.images(composed, objects),
        moved=_moved(workspace, composed),
        idle=idle.below(composed.idle, workspace.root_dir),
    )


def _moved(workspace: Workspace, composed: ComposedPackage) -> dict[str, str]:
    """Return where names went that users knew, of those that are no setters of the package."""
    known = {name for item in composed.use_cases for name in item.definitions.setters}
    known.update(composed.options.definitions.setters)
    moved = {**workspace.moved, **composed.package.moved}
    return {name: sentence for name, sentence in sorted(moved.items()) if name not in known}


def _own_files(package: packages.Package) -> list[Member]:
    """Return the files that the package ships as they are, with their run bit."""
    members = []
    for file in scripts.find(package.folder):
        path = file.relative_to(package.folder / scripts.DIRECTORY).as_posix()
        members.append(Member(path=path, data=file.read_bytes(), executable=scripts.is_executable(file)))
    return members
