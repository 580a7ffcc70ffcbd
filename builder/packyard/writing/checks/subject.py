"""What checks judge: a package directory read once: definitions, documents with bound fields, objects by build."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import is_kind, name_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml import aliases
from packyard.core.yaml.document import check_keys, parse_file
from packyard.core.yaml.node import Document, MappingNode, Node
from packyard.using.setters import fields
from packyard.using.setters.comment import is_marked
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import Binding
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.writing.checks import builds, layout
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding, finding


@dataclass(frozen=True)
class Subject:
    """What a package holds; ``krmfile`` is None where it cannot be read. ``of`` narrows it to one build.

    In its documents each alias is replaced by the node that it repeats: that node is met once for each place.
    """

    where: str  # stands before paths in messages
    krmfile: Krmfile | None
    definitions: Definitions  # of the Krmfile; none where it cannot be read
    files: Mapping[str, Sequence[Document]]  # by path, without what cannot be read
    bound: Sequence[tuple[Node | None, Binding]]  # the fields that comments bind, each with its document's root
    unreadable: Sequence[Finding]
    builds: Sequence[Build]
    rewritten: Mapping[str, Sequence[Problem]]  # what kustomize would write otherwise, by path: see `layout`
    reached: Mapping[int, frozenset[str]]  # the setters that change each bound field, by its node
    added: frozenset[str] = frozenset()  # files of options, which may name what their users bring

    @cached_property
    def objects(self) -> Sequence[MappingNode]:
        """The Kubernetes objects that are built, whole ones."""
        return list({id(root): root for build in self.builds for root in build.objects}.values())

    @cached_property
    def pods(self) -> Mapping[int, list[Pod[MappingNode]]]:
        """The pods of each object, by its node."""
        return {id(root): pods.find(root) for root in self.objects}

    @cached_property
    def all_pods(self) -> Sequence[Pod[MappingNode]]:
        """The pods of all objects."""
        return [pod for own in self.pods.values() for pod in own]

    @property
    def complete(self) -> bool:
        """Whether no object can come from elsewhere, or be changed on the way."""
        return not self.unreadable and all(build.complete for build in self.builds)

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

    def of(self, build: Build) -> "Subject":
        """Return the package as if it had this build alone."""
        return replace(self, builds=(build,))

    def revised(
        self, build: Build, roots: Sequence[MappingNode], more: Definitions, added: frozenset[str]
    ) -> "Subject":
        """Return the package with one build, whose objects are others.

        ``more`` are the definitions that comments in the files ``added`` refer to.
        """
        known = set(map(id, build.objects))
        fresh = [_document(root) for root in roots if id(root) not in known]
        own = self.definitions
        definitions = Definitions({**more.setters, **own.setters}, {**more.substitutions, **own.substitutions})
        bound = _bound(fresh)
        return replace(
            self,
            definitions=definitions,
            files={**self.files, "": fresh},
            bound=[*self.bound, *bound],
            builds=(replace(build, objects=tuple(roots)),),
            reached={**self.reached, **_reached(bound, definitions if self.krmfile else None)},
            added=added,
        )


def parse(package: PackageFiles) -> Subject:
    """Parse every file; a file that cannot be parsed is left out and reported."""
    unreadable: list[Finding] = []
    krmfile: Krmfile | None = None
    try:
        krmfile = read_krmfile(package)
    except InputError as error:
        unreadable += findings(error)
    rewritten = {package.name: layout.find(krmfile.documents)} if krmfile else {}
    files: dict[str, Sequence[Document]] = {}
    bound: list[tuple[Node | None, Binding]] = []
    for path, data in package.resources.items():
        try:
            name = package.where + path
            documents = parse_file(data, posixpath.normpath(name) if path.startswith("..") else name)
            own = _bound(documents if is_marked(data) else ())
            rewritten[path] = layout.find(documents) if own else []  # before aliases are followed
            for document in documents:
                check_keys(document)
                aliases.follow(document)
        except InputError as error:
            unreadable += findings(error)
        else:
            files[path] = documents
            bound += own
    return Subject(
        where=package.where,
        krmfile=krmfile,
        definitions=krmfile.definitions if krmfile else Definitions(),
        files=files,
        bound=bound,
        unreadable=unreadable,
        builds=builds.find(package.resources, files, is_loose=not package.name),
        rewritten=rewritten,
        reached=_reached(bound, krmfile.definitions if krmfile else None),
    )


def _document(root: MappingNode) -> Document:
    document = Document(root.source, root.start)
    document.root = root
    return document


def _bound(documents: Iterable[Document]) -> list[tuple[Node | None, Binding]]:
    return [(document.root, binding) for document in documents for binding in fields.find(document.root)]


def _reached(
    bound: Iterable[tuple[Node | None, Binding]], definitions: Definitions | None
) -> dict[int, frozenset[str]]:
    """Return the names of the setters that change each field, as `Subject.changed_by` does."""
    if definitions is None:
        return {id(binding.node): frozenset((binding.reference.name,)) for _, binding in bound}
    setters: dict[int, frozenset[str]] = {}
    for _, binding in bound:
        definition = definitions.resolve(binding.reference)
        try:
            setters[id(binding.node)] = definitions.setters_of(definition) if definition else frozenset()
        except InputError:  # which the checks of setters report
            setters[id(binding.node)] = frozenset()
    return setters


def findings(error: InputError) -> list[Finding]:
    """Return a finding for each problem of a file that cannot be read."""
    return [finding("unreadable", problem) for problem in error.problems]
