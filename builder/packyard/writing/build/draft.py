"""What a package, or a library, is made to: the files of its bundle, before that is packed.

A package is composed, described and has a README rendered. A library is its files as they are; packyard.json says the
setters that each part defines.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from packyard.core.bundle import bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import LIBRARY, Manifest, ShippedUseCase
from packyard.core.digest import Digest
from packyard.core.errors import refuse
from packyard.core.yaml.document import source_of
from packyard.core.yaml.sources import Sources
from packyard.using.setters.krmfile import parse_krmfile
from packyard.writing.build import describe, readme, readme_facts
from packyard.writing.checks import exception
from packyard.writing.source import compose, library, parts, scripts, workspace
from packyard.writing.source import package as packages
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.workspace import FOLDERS, Workspace

README = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A package as it was composed: the files of its bundle, and a manifest without their digests.

    Of a library nothing is ``composed``. ``inputs`` are the files that it was made from, below the root of the sources.
    """

    manifest: Manifest
    members: tuple[Member, ...]
    composed: ComposedPackage | None = None
    inputs: Mapping[str, Digest] = field(default_factory=dict)

    def bundle(self) -> Bundle:
        """Return the bundle."""
        members, exceptions = list(self.members), self.manifest.exceptions
        if self.composed:  # a library's packages have to find them where its parts need them
            members, exceptions = exception.take_out(members)
        return bundle.build(replace(self.manifest, exceptions=exceptions), members)

    @property
    def readme(self) -> bytes:
        """The README."""
        return next(member.data for member in self.members if member.path == README)


def compose_draft(here: Workspace, version: str, name: str) -> Draft:
    """Compose a package, or pack a library as it is. The same sources and version give the same bytes anywhere."""
    here = workspace.read(here.root_dir, here.sources.memo, here.libraries)  # which notes what this one reads
    draft = _of_library if here.is_library and name == here.name else _of_package
    return replace(draft(here, version, name), inputs=here.sources.inputs)


def _of_package(here: Workspace, version: str, name: str) -> Draft:
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
    return Draft(manifest=described, members=tuple(members), composed=composed)


def _own_files(sources: Sources, package: packages.Package) -> list[Member]:
    """Return the files that the package ships as they are, with their run bit."""
    members = []
    for file in scripts.find(sources, package.folder):
        path = file.removeprefix(f"{package.folder}/{scripts.DIRECTORY}/")
        members.append(Member(path=path, data=sources.read(file), executable=sources.is_executable(file)))
    return members


def _of_library(here: Workspace, version: str, name: str) -> Draft:
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
    folders = here.own_parts(*FOLDERS)
    for folder in folders:
        parts.of(here, folder)
    described = Manifest(
        kind=LIBRARY,
        name=name,
        version=version,
        model={},
        moved=here.moved,
        use_cases={folder or ".": _interface(sources, folder) for folder in ("", *sorted(folders))},
    )
    return Draft(manifest=described, members=tuple(members))


def _interface(sources: Sources, folder: str) -> ShippedUseCase:
    krmfile = parts.read_krmfile(sources, folder)
    setters = parse_krmfile(source_of(krmfile[1], krmfile[0]), sources.memo).definitions.setters if krmfile else {}
    return ShippedUseCase(setters=describe.values_of(setters))
