"""From a package's sources to its bundle: compose every use case, render the README, pack all files."""

from __future__ import annotations

from dataclasses import replace

from packyard.core.bundle.archive import Member
from packyard.core.yaml.sources import Sources
from packyard.writing.build import describe, library_bundle, readme, readme_facts
from packyard.writing.build.draft import README, Draft
from packyard.writing.source import compose, scripts, workspace
from packyard.writing.source import package as packages
from packyard.writing.source.workspace import Workspace


def compose_draft(here: Workspace, version: str, name: str) -> Draft:
    """Compose a package, or pack a library as it is. The same sources and version give the same bytes anywhere."""
    here = workspace.read(here.root_dir, here.sources.memo, here.libraries)  # which notes what this one reads
    draft = library_bundle.draft if here.is_library and name == here.name else _draft
    return replace(draft(here, version, name), inputs=here.sources.inputs)


def _draft(here: Workspace, version: str, name: str) -> Draft:
    composed = compose.compose(here, packages.read(here, name))
    package, sources, memo = composed.package, here.sources, here.sources.memo
    objects = {item.use_case.path: item.values(memo) for item in composed.use_cases}
    texts = readme.find(here, package)
    described = describe.manifest(here, composed, objects, version)
    members = [Member(path=f"{here.prefix}/{path}", data=data) for path, data in composed.files.items()]
    members.append(Member(path="LICENSE", data=sources.read(here.license_file)))
    members += _own_files(sources, package)
    context = readme_facts.context(here, composed, objects, described)
    members.append(Member(path=README, data=readme.render(texts, context)))
    return Draft(manifest=described, members=tuple(members), idle=composed.idle)


def _own_files(sources: Sources, package: packages.Package) -> list[Member]:
    """Return the files that the package ships as they are, with their run bit."""
    members = []
    for file in scripts.find(sources, package.folder):
        path = file.removeprefix(f"{package.folder}/{scripts.DIRECTORY}/")
        members.append(Member(path=path, data=sources.read(file), executable=sources.is_executable(file)))
    return members
