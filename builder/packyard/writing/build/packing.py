"""From a package's sources to its bundle: compose every use case, render the README, pack all files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle.archive import Member
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Sources
from packyard.writing.build import describe, library_bundle, readme, readme_facts
from packyard.writing.build.draft import README, Draft
from packyard.writing.source import compose, library, scripts, workspace
from packyard.writing.source import package as packages
from packyard.writing.source.library import Library
from packyard.writing.source.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How packages are built: from which sources, and as which version.

    ``libraries`` are those of the workspace, if they were found already.
    """

    root_dir: Path
    version: str
    libraries: tuple[Library, ...] | None = None

    def workspace(self, memo: Memo | None = None) -> Workspace:
        """Read the workspace."""
        return workspace.read(self.root_dir, memo, self.libraries)


class Packing:
    """Composes packages; what it made of the parts that packages share, it remembers."""

    def __init__(self, settings: Settings) -> None:
        if settings.libraries is None:
            settings = replace(settings, libraries=library.find(settings.root_dir))
        self.settings = settings
        self.memo = Memo()

    def __call__(self, name: str) -> Draft:
        """Return a package."""
        here = self.settings.workspace(self.memo)
        return replace(compose_draft(here, name, self.settings.version), inputs=here.sources.inputs)

    def readme(self, name: str) -> bytes:
        """Return a package's README."""
        return self(name).readme


def compose_draft(here: Workspace, name: str, version: str) -> Draft:
    """Compose a package, or pack a library as it is. The same sources and version give the same bytes anywhere."""
    if here.is_library and name == here.name:
        return library_bundle.draft(here, version)
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
