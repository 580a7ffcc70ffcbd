"""A package directory, parsed once for all checks: definitions, documents with their bound fields, objects by build."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import is_kind, name_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml import aliases
from packyard.core.yaml.document import all_comments, check_keys, parse_file
from packyard.core.yaml.node import Comment, Document, MappingNode, Node, Source
from packyard.using.setters import fields
from packyard.using.setters.comment import is_marked
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import Binding
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.writing.checks import builds, layout
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding, finding


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a package holds; ``krmfile`` is None where it cannot be read. ``of`` narrows it to one build.

    In its documents each alias is replaced by the node that it repeats: that node is met once for each place.
    """

    where: str  # stands before paths in messages
    krmfile: Krmfile | None
    files: Mapping[str, Sequence[Document]]  # by path, without what cannot be read
    comments: tuple[tuple[Source, Comment], ...]
    behind_headers: tuple[Problem, ...]  # setter comments where they bind nothing
    bound: tuple[Binding, ...]
    objects: tuple[MappingNode, ...]  # the Kubernetes objects that are built, whole ones
    complete: bool  # whether no object can come from elsewhere, or be changed on the way
    unreadable: tuple[Finding, ...]
    builds: tuple[Build, ...]
    rewritten: Mapping[str, Sequence[Problem]]  # what kustomize would write otherwise, by path: see `layout`
    reached: Mapping[int, frozenset[str]]  # the setters that change each bound field, by its node
    pods: Mapping[int, list[Pod[MappingNode]]]  # those of each object, by its node
    roots: Mapping[int, MappingNode]  # the root of the document of each bound field, by its node
    added: frozenset[str] = frozenset()  # files of options, which may name what their users bring

    @property
    def is_loose(self) -> bool:
        """Whether nothing puts the files of the build together."""
        return any(build.is_loose for build in self.builds)

    @property
    def is_own(self) -> bool:
        """Whether it has setters: of others nobody knows what a cluster has beside them."""
        return bool(self.definitions.setters)

    @property
    def generated(self) -> list[MappingNode]:
        """The ConfigMaps and Secrets that its kustomizations generate."""
        return [root for build in self.builds for root in build.generated]

    @property
    def documents(self) -> list[Document]:
        """Those of all files."""
        return [document for documents in self.files.values() for document in documents]

    @property
    def definitions(self) -> Definitions:
        """The definitions of the Krmfile; none where it cannot be read."""
        return self.krmfile.definitions if self.krmfile else Definitions()

    def changed_by(self, node: Node | None) -> frozenset[str]:
        """Return the names of the setters that change a field; none where a definition is broken.

        Where the Krmfile cannot be read it is what the comment names, whatever that is.
        """
        return self.reached.get(id(node), frozenset())

    def waits(self, node: Node | None) -> bool:
        """Say whether a field waits for a value that somebody has to set, as it may if the Krmfile cannot be read."""
        names, setters = self.changed_by(node), self.definitions.setters
        return any(setters[name].must_be_set for name in names) if self.krmfile else bool(names)

    def pods_of(self, root: MappingNode) -> list[Pod[MappingNode]]:
        """Return the pods of an object."""
        return self.pods[id(root)]

    def containers_of(self, root: MappingNode) -> list[MappingNode]:
        """Return the containers of the pods of an object."""
        return [container for pod in self.pods_of(root) for container in pod.containers]

    def named(self, group: str, kind: str) -> dict[str, MappingNode]:
        """Return the objects of a kind by their names."""
        return {name.value: root for root in self.objects if is_kind(root, group, kind) and (name := name_of(root))}

    def image(self, reference: str) -> str:
        """Return an image as the kustomizations of the build leave it."""
        return self.builds[0].image(reference) if len(self.builds) == 1 else reference

    def of(self, build: Build) -> Parsed:
        """Return the package as if it had this build alone."""
        return replace(self, objects=build.objects, complete=build.complete and self.complete, builds=(build,))

    def revised(
        self,
        build: Build,
        roots: Sequence[tuple[MappingNode | None, MappingNode]],
        more: Definitions,
        added: frozenset[str],
    ) -> Parsed:
        """Return the package with one build, whose objects are others: each before (None: it is new), and now.

        ``more`` are the definitions that comments in the files ``added`` refer to.
        """
        gone = {id(old) for old, new in roots if old is not new}
        fresh = [(new, _document(new)) for old, new in roots if old is not new]
        krmfile = copy(self.krmfile)
        if krmfile:
            own = krmfile.definitions
            krmfile.definitions = Definitions(
                {**more.setters, **own.setters}, {**more.substitutions, **own.substitutions}
            )
        bound = [binding for binding in self.bound if id(self.roots.get(id(binding.node))) not in gone]
        by_root = [(root, binding) for root, document in fresh for binding in fields.find(document)]
        bound += [binding for _, binding in by_root]
        reached = {**self.reached, **_reached((binding for _, binding in by_root), krmfile)}
        build = replace(build, objects=tuple(root for _, root in roots))
        return replace(
            self,
            krmfile=krmfile,
            files={**self.files, "": [document for _, document in fresh]},
            bound=tuple(bound),
            objects=build.objects,
            complete=build.complete and self.complete,
            builds=(build,),
            reached=reached,
            pods={id(root): pods.find(root) for root in build.objects},
            roots={**self.roots, **{id(binding.node): root for root, binding in by_root}},
            added=added,
        )


def parse(package: PackageFiles) -> Parsed:
    """Parse every file; a file that cannot be parsed is left out and reported."""
    unreadable: list[Finding] = []
    krmfile: Krmfile | None = None
    try:
        krmfile = read_krmfile(package)
    except InputError as error:
        unreadable += findings(error)
    rewritten = {package.name: layout.find(krmfile.documents)} if krmfile else {}
    files: dict[str, _ParsedFile] = {}
    for path, data in package.resources.items():
        try:
            name = package.where + path
            files[path] = _parse_file(data, posixpath.normpath(name) if path.startswith("..") else name)
        except InputError as error:
            unreadable += findings(error)
    documents = {path: file.documents for path, file in files.items()}
    bound = [binding for file in files.values() for binding in file.bound]
    all_builds = builds.find(package.resources, documents, is_loose=not package.name)
    objects = {id(root): root for build in all_builds for root in build.objects}
    return Parsed(
        where=package.where,
        krmfile=krmfile,
        files=documents,
        comments=tuple(comment for file in files.values() for comment in file.comments),
        behind_headers=tuple(problem for file in files.values() for problem in file.behind_headers),
        bound=tuple(bound),
        objects=tuple(objects.values()),
        complete=not unreadable,
        unreadable=tuple(unreadable),
        builds=tuple(all_builds),
        rewritten={**rewritten, **{path: file.rewritten for path, file in files.items()}},
        reached=_reached(bound, krmfile),
        pods={key: pods.find(root) for key, root in objects.items()},
        roots={key: root for file in files.values() for key, root in file.roots.items()},
    )


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """What `Parsed` has of one file."""

    documents: list[Document]
    bound: list[Binding]
    roots: dict[int, MappingNode]
    comments: list[tuple[Source, Comment]]
    behind_headers: list[Problem]
    rewritten: Sequence[Problem]


def _parse_file(data: bytes, name: str) -> _ParsedFile:
    documents = parse_file(data, name)
    marked = documents if is_marked(data) else ()
    by_root = [(document.root, binding) for document in marked for binding in fields.find(document)]
    roots = {id(binding.node): root for root, binding in by_root if isinstance(root, MappingNode)}
    comments = [(document.source, comment) for document in documents for comment in _comments(document)]
    with_headers = documents if fields.HEADER_MARK.search(data) else ()
    behind_headers = list(fields.behind_headers(with_headers))
    rewritten = layout.find(documents) if by_root else []  # before aliases are followed
    for document in documents:
        check_keys(document)
        aliases.follow(document)
    return _ParsedFile(documents, [binding for _, binding in by_root], roots, comments, behind_headers, rewritten)


def _document(root: MappingNode) -> Document:
    document = Document(root.source, root.start)
    document.root = root
    return document


def _comments(document: Document) -> Iterator[Comment]:
    if "#" in document.source.text:  # most have none
        yield from all_comments(document)


def _reached(bound: Iterable[Binding], krmfile: Krmfile | None) -> dict[int, frozenset[str]]:
    """Return the names of the setters that change each field, as `Parsed.changed_by` does."""
    if krmfile is None:
        return {id(binding.node): frozenset((binding.reference.name,)) for binding in bound}
    setters: dict[int, frozenset[str]] = {}
    definitions = krmfile.definitions
    for binding in bound:
        definition = definitions.resolve(binding.reference)
        try:
            setters[id(binding.node)] = definitions.setters_of(definition) if definition else frozenset()
        except InputError:  # which the checks of setters report
            setters[id(binding.node)] = frozenset()
    return setters


def findings(error: InputError) -> list[Finding]:
    """Return a finding for each problem of a file that cannot be read."""
    return [finding("unreadable", problem) for problem in error.problems]
