"""From a package's sources to its bundle: compose every use case, render the README, pack all files."""

from __future__ import annotations

from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.yaml.sources import Sources
from packyard.writing.build import describe, library_bundle, readme, readme_facts
from packyard.writing.build.draft import README, Draft
from packyard.writing.source import compose, scripts
from packyard.writing.source import package as packages
from packyard.writing.source.workspace import Workspace


def assemble(workspace: Workspace, name: str, version: str) -> Bundle:
    """Build the bundle of one package. The same sources and version give the same tar on every machine."""
    return draft(workspace, name, version).bundle()


def draft(workspace: Workspace, name: str, version: str) -> Draft:
    """Compose a package; a library has no packages to compose by its own name: it is packed as it is."""
    if workspace.is_library and name == workspace.name:
        return library_bundle.draft(workspace, version)
    composed = compose.compose(workspace, packages.read(workspace, name))
    package, sources, memo = composed.package, workspace.sources, workspace.sources.memo
    objects = {item.use_case.path: item.values(memo) for item in composed.use_cases}
    texts = readme.find(workspace, package)
    described = describe.manifest(workspace, composed, objects, version)
    members = [Member(path=f"{workspace.prefix}/{path}", data=data) for path, data in composed.files.items()]
    members.append(Member(path="LICENSE", data=sources.read(workspace.license_file)))
    members += _own_files(sources, package)
    context = readme_facts.context(workspace, composed, objects, described)
    members.append(Member(path=README, data=readme.render(texts, context)))
    return Draft(manifest=described, members=tuple(members), idle=composed.idle)


def _own_files(sources: Sources, package: packages.Package) -> list[Member]:
    """Return the files that the package ships as they are, with their run bit."""
    members = []
    for file in scripts.find(sources, package.folder):
        path = file.removeprefix(f"{package.folder}/{scripts.DIRECTORY}/")
        members.append(Member(path=path, data=sources.read(file), executable=sources.is_executable(file)))
    return members
