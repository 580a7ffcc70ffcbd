"""What a tree builds: the objects that each of its kustomizations takes from files, as patches and labels make them.

    base/kustomization.yaml    resources: [cm.yaml]
    prod/kustomization.yaml    resources: [../base]          builds base/cm.yaml;
                               patches: [{path: p.yaml}]     p.yaml is a patch

A kustomization that another one refers to is not a build of its own, nor is a Component. The objects of files without
a kustomization in their folder or above make one build. What only kustomize knows to do leaves a build incomplete.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from packyard.core.errors import InputError, suggest
from packyard.core.kubernetes import images, kustomization
from packyard.core.kubernetes.kinds import called, is_local
from packyard.core.kubernetes.kustomization import GROUP, NAMES
from packyard.core.yaml import aliases, make
from packyard.core.yaml.document import items, mappings
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Collection, Document, MappingNode, Scalar, SequenceNode
from packyard.core.yaml.span import embedded
from packyard.core.yaml.values import flag
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.patch import AbsentError, MisfitError
from packyard.writing.checks import generators
from packyard.writing.checks.finding import Finding, breach, finding

_PATCHES = ("patchesStrategicMerge", "patches", "patchesJson6902")
#: The fields of a kustomization of which it is known here what they do.
_FOLLOWED = (
    *("apiVersion", "kind", "metadata", "resources", "namespace", "bases", "components", "images", "replicas"),
    *("commonAnnotations", "buildMetadata", "sortOptions", "namePrefix", "nameSuffix", "labels", "commonLabels"),
    *("configMapGenerator", "secretGenerator", "generatorOptions"),  # whose names are known
    *_PATCHES,
)
#: The fields that tell the objects of one kustomization from equal ones of another.
_RENAMING = ("namePrefix", "nameSuffix", "namespace")
#: Where objects have the labels of their pods, and where kinds select by them.
_TEMPLATES = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"))
_SELECTORS = {
    **dict.fromkeys(("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), ("spec", "selector", "matchLabels")),
    "Service": ("spec", "selector"),
}
#: How deep kustomizations are followed.
_DEEPEST = 100

Files = Mapping[str, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Build:
    """The objects that are applied to a cluster together, each once.

    ``complete`` says that no object can come from elsewhere or be changed by a kustomization. ``kustomizations`` are
    the ones that it is built by. ``is_loose`` says that nothing puts the files together: neither a kustomization nor a
    Krmfile. ``generated`` are the ConfigMaps and Secrets that its kustomizations make, with their keys, ``findings``
    what is wrong with their patches.
    """

    objects: tuple[MappingNode, ...]
    complete: bool
    kustomizations: tuple[MappingNode, ...] = ()
    is_loose: bool = False
    generated: tuple[MappingNode, ...] = ()
    findings: tuple[Finding, ...] = ()

    def image(self, reference: str) -> str:
        """Return an image as the kustomizations leave it."""
        for name, new in (image for root in self.kustomizations for image in kustomization.images(root)):
            if images.parse(reference).name == name:
                reference = images.replaced(reference, new)
        return reference


def find(paths: Iterable[str], files: Files, *, is_loose: bool = False) -> list[Build]:
    """Return the builds of a tree: ``paths`` are those of its files, ``files`` the documents of YAML files.

    The rest, which no kustomization has, is one build; if it ``is_loose``, one for each folder.
    """
    tree = _Tree(paths, files)
    rest: dict[str, list[MappingNode]] = {}
    for path in files:
        if not tree.has_above(path):
            rest.setdefault(posixpath.dirname(path) if is_loose else "", []).extend(_objects(files[path]))
    builds = [_Builder(tree).build(folder) for folder in tree.tops()]
    builds += [Build(tuple(roots), complete=True, is_loose=is_loose) for roots in rest.values() if roots]
    return builds or [Build((), complete=True)]


class _Tree:
    """The files of a tree, and its kustomizations by their folders: one that cannot be read has no fields."""

    def __init__(self, paths: Iterable[str], files: Files) -> None:
        self.files = files
        self.kustomizations = {
            posixpath.dirname(path): next(_mappings(files.get(path, ())), make.mapping(path, {}))
            for name in reversed(NAMES)
            for path in paths
            if posixpath.basename(path) == name
        }

    def has_above(self, path: str) -> bool:
        """Say whether a kustomization is in the folder of a file or in one above."""
        folder = posixpath.dirname(path)
        while folder and folder not in self.kustomizations:
            folder = posixpath.dirname(folder)
        return folder in self.kustomizations

    def tops(self) -> Iterator[str]:
        """Yield the folders of those that no other refers to, or that refer to one another in a circle."""
        parts = {path for folder in self.kustomizations for path in self.parts(folder) if path != folder}
        for folder, root in self.kustomizations.items():
            if folder not in parts and root.text("kind") != "Component":
                yield folder

    def parts(self, folder: str) -> Iterator[str]:
        """Yield the paths of the files and folders that a kustomization refers to."""
        for node in kustomization.named(self.kustomizations[folder]):
            path = posixpath.normpath(posixpath.join(folder, node.value))
            yield "" if path == "." else path


@dataclass(slots=True)
class _Builder:
    """Follows the kustomizations of one build, each once."""

    tree: _Tree
    complete: bool = True
    followed: list[MappingNode] = field(default_factory=list)
    generated: list[MappingNode] = field(default_factory=list)
    made: list[SourceObject] = field(default_factory=list)  # the same, as patches change them
    findings: list[Finding] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def build(self, top: str) -> Build:
        """Return what a kustomization builds."""
        objects: list[SourceObject] = []
        self._gather(top, objects, 0)
        roots = [item.root for item in objects if item not in self.made]
        names = {called(item.root) for item in self.made}  # references follow from those before a patch
        made = (*(item.root for item in self.made), *(root for root in self.generated if called(root) not in names))
        return Build(tuple(roots), self.complete, tuple(self.followed), generated=made, findings=tuple(self.findings))

    def _gather(self, path: str, objects: list[SourceObject], depth: int) -> None:
        """Add the objects of a file or a kustomization; a Component changes those that there are."""
        if path in self._seen:
            return
        self._seen.add(path)
        if path in self.tree.kustomizations and depth < _DEEPEST:
            self._follow(path, self.tree.kustomizations[path], objects, depth)
        elif path in self.tree.files:
            roots = list(_objects(self.tree.files[path]))
            self.complete = self.complete and bool(roots)  # an empty file is filled in by somebody
            objects += (SourceObject(root, "") for root in roots)
        else:
            self.complete = False

    def _follow(self, folder: str, root: MappingNode, objects: list[SourceObject], depth: int) -> None:
        own = objects if root.text("kind") == "Component" else []
        self.generated += (generated := [*generators.objects(root)])
        self.made += (sources := [SourceObject(item, "") for item in generated])
        own += sources
        for part in self.tree.parts(folder):
            self._gather(part, own, depth + 1)
        is_known = kustomization.has_lists(root) and all(entry.name in _FOLLOWED for entry in root.entries)
        self.complete = self.complete and is_known and bool(root.entries)
        self.followed.append(root)
        self._change(root, folder, own)
        self.complete = self.complete and not (depth and any(map(root.text, _RENAMING)))
        if own is not objects:
            objects += own

    def _change(self, root: MappingNode, folder: str, objects: list[SourceObject]) -> None:
        """Patch and label objects as a kustomization says; what kustomize alone can do is left as it is."""
        for patch in _patches(root, folder, self.tree.files):
            if patch:
                self._patch(patch, objects)
            else:
                self.complete = False
        try:
            for labels, is_selected in _labels(root):
                for item in objects:
                    _label(item, labels, is_selected=is_selected)
        except InputError:  # a text where labels stand, of which the schema tells
            self.complete = False

    def _patch(self, patch: Patch, objects: list[SourceObject]) -> None:
        """Patch objects; find a patch that is for none, and operations that do not fit, where all objects are known."""
        root, rule = patch.document.root, "entry-without-target"
        is_certain = self.complete and all(item.root.get("data") for item in self.made)
        if not any(_is_for(patch, item) for item in objects):
            named = root.find("metadata", "name") if root and patch.target is None else None
            is_elsewhere = named and root and root.find("metadata", "namespace")  # which kustomize may give objects
            if is_certain and not is_elsewhere:
                place = patch.entry.get("target") or named or patch.entry
                names = (item.identity[3] for item in objects)
                hint = suggest(place.value, names) if isinstance(place, Scalar) else "correct the target"
                message, is_open = "there is no object for this patch", patch.target is not None
                self.findings.append(breach(rule, place, message, hint, severity="warning" if is_open else "error"))
            return
        try:
            accumulate(Part("", patches=(patch,)), objects)
        except InputError as error:  # or what kustomize alone follows
            self.complete = False
            if is_certain and isinstance(root, SequenceNode) and not isinstance(error, AbsentError):
                is_open = not isinstance(error, MisfitError)
                self.findings += (finding(rule, item, "warning" if is_open else "error") for item in error.problems)


def _is_for(patch: Patch, item: SourceObject) -> bool:
    if patch.target is not None:
        return selector.selects(patch.target, item.root, item.identity)
    root = patch.document.root
    return isinstance(root, MappingNode) and selector.is_same(selector.identity(root), item.identity)


def _patches(root: MappingNode, folder: str, files: Files) -> Iterator[Patch | None]:
    """Yield the patches of a kustomization, in files or in place; None for what cannot be read."""
    for node in (node for key in _PATCHES for node in items(root.get(key))):
        text = node if isinstance(node, Scalar) else node.get("path") or node.get("patch")
        fields = Fields(node, root.source.name, "patches")
        target = selector.read(fields, "target") if isinstance(node, MappingNode) else None
        documents: Sequence[Document] = ()
        if isinstance(text, Scalar):
            with suppress(InputError):
                path = posixpath.normpath(posixpath.join(folder, text.value))
                documents = files.get(path) or aliases.read(embedded(text))
        is_read = documents and all(isinstance(document.root, Collection) for document in documents)
        is_read = is_read and (target is None or not fields.problems)
        yield from (Patch(document, target, node) for document in documents) if is_read else (None,)


def _labels(root: MappingNode) -> Iterator[tuple[MappingNode, bool]]:
    """Yield the labels that a kustomization adds, and whether it adds them to selectors, too."""
    if common := root.mapping("commonLabels"):
        yield common, True
    for entry in mappings(root.get("labels")):
        if pairs := entry.mapping("pairs"):
            yield pairs, flag(entry.get("includeSelectors")) or False


def _label(item: SourceObject, labels: MappingNode, *, is_selected: bool) -> None:
    """Add labels to an object, its pods and its selector; other selectors, too, select no less with kustomize's."""
    root, kind = item.root, item.root.text("kind")
    paths: list[tuple[str, ...]] = [("metadata", "labels")]
    paths += [(*path, "metadata", "labels") for path in _TEMPLATES if root.mapping(*path, "spec")]
    paths += [_SELECTORS[kind]] if is_selected and kind in _SELECTORS and root.mapping("spec") else []
    for path in paths:
        merge = labels
        for name in reversed(path):
            merge = make.mapping(labels.source.name, {name: merge})
        item.merge(merge)


def _mappings(documents: Iterable[Document]) -> Iterator[MappingNode]:
    return (item.root for item in documents if isinstance(item.root, MappingNode))


def _objects(documents: Iterable[Document]) -> Iterator[MappingNode]:
    for root in filter(_is_object, _mappings(documents)):
        members = mappings(root.get("items")) if root.text("kind").endswith("List") else []
        yield from members if members and all(map(_is_object, members)) else [root]


def _is_object(root: MappingNode) -> bool:
    """Say whether a document is applied as it stands: no kustomization, and nothing local or encrypted."""
    is_encrypted = root.find("sops", "mac") is not None
    is_kustomization = root.text("apiVersion").startswith(f"{GROUP}/")
    return bool(root.text("kind")) and not (is_kustomization or is_encrypted or is_local(root))
