"""A package's sources to its bundle: every use case composed, the README rendered, all of it packed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from packyard.bundle import describe, documented, readme, reasons, requirements
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.bundle.documented import DocumentedUseCase
from packyard.bundle.draft import MARK, README, Draft
from packyard.errors import refuse
from packyard.setters import krmfile
from packyard.setters.listing import Row, rule_rows
from packyard.source import idle, preset, scripts
from packyard.source import package as packages
from packyard.source.compose import Composed, compose_all
from packyard.source.package import Package
from packyard.source.preset import Preset
from packyard.source.workspace import Workspace
from packyard.text.sharing import Sharing


def assemble(workspace: Workspace, name: str, version: str) -> Bundle:
    """Build the bundle of one package. The same sources and version give the same tar on every machine."""
    return draft(workspace, name, version).bundle(version)


def draft(workspace: Workspace, name: str, version: str) -> Draft:
    """Compose a package for a version, and for all others where nothing but the print of its README differs."""
    with Sharing():
        return _draft(workspace, packages.read(workspace, name), version)


def _draft(workspace: Workspace, package: Package, version: str) -> Draft:
    composed = compose_all(workspace, package)
    objects = {item.use_case.path: item.values() for item in composed}
    lacking = (problem for item in composed for problem in reasons.check(package, item, objects[item.use_case.path]))
    refuse({str(problem): problem for problem in lacking}.values())
    rows = {item.use_case.path: item.rows() for item in composed}
    described = {item.use_case.path: describe.use_case(item.package_files()) for item in composed}
    told = [_document(item, rows[item.use_case.path], objects[item.use_case.path]) for item in composed]
    members = [
        Member(path=f"{workspace.prefix}/{item.use_case.path}/{path}", data=data)
        for item in composed
        for path, data in item.shipped.items()
    ]
    members += _own_files(workspace, package)
    presets = preset.read_all(workspace, package)
    members += [Member(path=f"{preset.DIRECTORY}/{item.name}.yaml", data=item.data) for item in presets]
    documents = packages.documents(workspace, package)
    fragments = [(os.path.relpath(file, workspace.root_dir), text) for file, text in documents]
    is_open = readme.only_prints("version", fragments)
    context = _context(workspace, package, MARK if is_open else version, composed, told, presets)
    members.append(Member(path=README, data=readme.render(fragments, context)))
    return Draft(
        name=package.name,
        version="" if is_open else version,
        model=package.model,
        members=tuple(members),
        use_cases={f"{workspace.prefix}/{path}": use_case for path, use_case in described.items()},
        images=tuple(sorted({image for use_case in told for image in use_case.images})),
        idle=idle.below(idle.join(item.idle for item in composed), workspace.root_dir),
    )


def _document(item: Composed, rows: list[Row], objects: Sequence[Mapping[str, object]]) -> DocumentedUseCase:
    return DocumentedUseCase(
        path=item.use_case.path,
        axes=item.use_case.axes,
        setters=rows,
        rules=rule_rows(item.rules, item.definitions, krmfile.NAME),
        options=item.options,
        objects=list(item.objects),
        requirements=[str(requirement) for requirement in requirements.find(objects)],
        images=list(requirements.images(objects)),
    )


def _own_files(workspace: Workspace, package: Package) -> list[Member]:
    """Return the license, and the files that the package ships as they are, with their run bit."""
    members = [Member(path="LICENSE", data=(workspace.root_dir / workspace.license_file).read_bytes())]
    for file in scripts.find(package.folder):
        path = file.relative_to(package.folder / scripts.DIRECTORY).as_posix()
        members.append(Member(path=path, data=file.read_bytes(), executable=scripts.is_executable(file)))
    return members


def _context(
    workspace: Workspace,
    package: Package,
    version: str,
    composed: Sequence[Composed],
    use_cases: Sequence[DocumentedUseCase],
    presets: Sequence[Preset],
) -> dict[str, object]:
    """Return what fragments of the README may use."""
    return {
        "name": package.name,
        "version": version,
        "prefix": workspace.prefix,
        "model": package.model,
        "use_cases": use_cases,
        "example": documented.example(use_cases),
        "kinds": {kind for use_case in use_cases for kind, _ in use_case.objects},
        "parameters": documented.parameters(use_cases),
        "rules": documented.rules(use_cases),
        "options": documented.options(use_cases),
        "levels": documented.levels(composed),
        "moving_tags": reasons.of_tags(package, [image for use_case in use_cases for image in use_case.images]),
        "presets": presets,
        "retired": package.retired,
    }
