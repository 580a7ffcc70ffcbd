"""What a tree builds: the objects that each of its kustomizations takes from files.

    base/kustomization.yaml    resources: [cm.yaml]
    prod/kustomization.yaml    resources: [../base]          builds base/cm.yaml;
                               patches: [{path: p.yaml}]     p.yaml is a patch

A kustomization that another one refers to is not a build of its own, nor is a Component. The objects of files without
a kustomization in their folder or above make one build. In a package, objects beside a kustomization that none mentions
make one too: a user may add them. Of programs, Components that use cases share, the names of the ConfigMaps are known,
and patches of these change no other object.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.kubernetes import images, kustomization
from packyard.core.kubernetes.kinds import LOCAL, is_local
from packyard.core.kubernetes.kustomization import GROUP, NAMES, referred
from packyard.core.yaml.document import mappings, walk
from packyard.core.yaml.node import Document, MappingNode, Scalar
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.options.folder import PROGRAMS
from packyard.writing.checks import changes, generated
from packyard.writing.checks.finding import Finding

#: The fields of a kustomization of which it is known what they do to names and references.
_FOLLOWED = (
    *("apiVersion", "kind", "metadata", "resources", "namespace", "bases", "components", "images", "replicas"),
    *("commonAnnotations", "buildMetadata", "sortOptions", "namePrefix", "nameSuffix"),
    *("configMapGenerator", "secretGenerator", "generatorOptions"),  # whose names are known
    # which `changes` makes:
    *("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "labels", "commonLabels"),
)
#: The fields that change the names of objects.
RENAMING = ("namePrefix", "nameSuffix")

#: The fields of a kustomization that make objects whose names nobody knows here, or change which there are.
_MAKING = (
    "generators",
    "transformers",
    "helmCharts",
    "helmChartInflationGenerator",
)

#: How deep kustomizations are followed.
_DEEPEST = 100

Files = Mapping[str, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Build:
    """The objects that are applied to a cluster together, each once.

    ``complete`` says that no object can come from elsewhere or be changed by a kustomization. ``apart`` has for each
    object, by its node, the kustomizations that rename it. ``kustomizations`` are the ones that it is built by, and
    ``is_whole`` says that all their objects are known: none comes from elsewhere. ``is_loose`` says that nothing puts
    the files together: neither a kustomization nor a Krmfile. ``generated`` are the ConfigMaps and Secrets that its
    kustomizations make, with their keys. ``removed`` are the objects that patches take out, ``refused`` the patches
    that kustomize refuses.
    """

    objects: tuple[MappingNode, ...]
    complete: bool
    apart: Mapping[int, str] = field(default_factory=dict)
    kustomizations: tuple[MappingNode, ...] = ()
    is_whole: bool = False
    is_loose: bool = False
    generated: tuple[MappingNode, ...] = ()
    removed: tuple[MappingNode, ...] = ()
    refused: tuple[Finding, ...] = ()

    def image(self, reference: str) -> str:
        """Return an image as the kustomizations leave it."""
        for name, new in (image for root in self.kustomizations for image in kustomization.images(root)):
            if images.parse(reference).name == name:
                reference = images.replaced(reference, new)
        return reference


def find(
    paths: Collection[str],
    files: Files,
    *,
    is_loose: bool = False,
    programs: Mapping[str, Sequence[MappingNode]] | None = None,
) -> list[Build]:
    """Return the builds of a tree: ``paths`` are those of its files, ``files`` the documents of YAML files.

    The rest, which no kustomization has, is one build; if it ``is_loose``, one for each folder. ``programs`` is what
    folders beside the tree generate, by the folders' names.
    """
    kustomizations = _Kustomizations(paths, files, programs or {})
    rest: dict[str, list[MappingNode]] = {}
    for path in files:
        if not kustomizations.has_above(path):
            rest.setdefault(posixpath.dirname(path) if is_loose else "", []).extend(_objects(files[path]))
    builds = [kustomizations.build(folder) for folder in kustomizations.tops()]
    beside = [] if is_loose else [tuple(kustomizations.beside(folder)) for folder in kustomizations.tops()]
    builds += [Build(roots, complete=False) for roots in beside if roots]
    builds += [Build(tuple(roots), complete=True, is_loose=is_loose) for roots in rest.values() if roots]
    return builds or [Build((), complete=True)]


_Gathered = dict[SourceObject, str]


@dataclass(slots=True)
class _Known:
    """What is known of a build while its kustomizations are followed."""

    complete: bool = True
    whole: bool = True
    depth: int = 0
    seen: set[str] = field(default_factory=set)
    made: set[SourceObject] = field(default_factory=set)
    roots: list[MappingNode] = field(default_factory=list)
    removed: list[MappingNode] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)


class _Kustomizations:
    """The kustomizations of a tree, by the folders that they are in."""

    def __init__(self, paths: Collection[str], files: Files, programs: Mapping[str, Sequence[MappingNode]]) -> None:
        self._files = files
        self._programs = programs
        self._file = {
            posixpath.dirname(path): path
            for name in reversed(NAMES)
            for path in paths
            if posixpath.basename(path) == name
        }
        self._root = {folder: _root(files.get(path, ())) for folder, path in self._file.items()}
        self._taken = {folder: list(self._entries(folder, root)) for folder, root in self._root.items()}

    def has_above(self, path: str) -> bool:
        """Say whether a kustomization is in the folder of a file or in one above."""
        folder = posixpath.dirname(path)
        while folder and folder not in self._file:
            folder = posixpath.dirname(folder)
        return folder in self._file

    def tops(self) -> Iterator[str]:
        """Yield the folders of those that no other refers to, or that refer to one another in a circle."""
        parts = {path for folder, paths in self._taken.items() for path in paths if path != folder}
        for folder, root in self._root.items():
            if folder not in parts and not (root and root.text("kind") == "Component"):
                yield folder

    def build(self, top: str) -> Build:
        """Return the build of a kustomization; one that is referred to twice is followed once."""
        state = _Known()
        gathered = self._gather(top, "", state)
        apart = {id(source.root): names for source, names in gathered.items()}
        return Build(
            tuple(source.root for source in gathered if source not in state.made),
            state.complete,
            apart,
            tuple(state.roots),
            state.whole,
            generated=tuple(source.root for source in gathered if source in state.made),
            removed=tuple(state.removed),
            refused=tuple(state.refused),
        )

    def _gather(self, path: str, names: str, state: _Known, gathered: _Gathered | None = None) -> _Gathered:
        """Return the objects of a file or a kustomization, with what renames them; a Component changes ``gathered``."""
        gathered = {} if gathered is None else gathered
        if path in state.seen:
            return gathered
        state.seen.add(path)
        if path in self._root and state.depth < _DEEPEST:
            state.depth += 1
            self._follow(path, names, state, gathered)
            state.depth -= 1
        elif path in self._files:
            objects = list(_objects(self._files[path]))
            state.whole = state.whole and bool(objects)  # an empty file is filled in by somebody
            gathered.update((SourceObject(item, ""), names) for item in objects)
        elif made := self._made(path):
            self._generate(made, names, state, gathered)
        else:
            state.complete = state.whole = False
        return gathered

    def _follow(self, path: str, names: str, state: _Known, gathered: _Gathered) -> None:
        root = self._root[path]
        state.roots += [root] if root else []
        is_plain = root is not None and kustomization.has_lists(root) and not any(map(root.get, _MAKING))
        state.whole = state.whole and is_plain
        if root is None or not all(entry.name in _FOLLOWED for entry in root.entries):
            state.complete = False
        is_renamed = bool(root and any(root.get(name) is not None for name in (*RENAMING, "namespace")))
        if len(state.seen) > 1 and is_renamed:
            names, state.complete = f"{len(state.seen)} {names}", False
        self._generate(generated.objects(root) if root else (), names, state, gathered)
        for part in self._taken[path]:
            below = self._root.get(part)
            if below and below.text("kind") == "Component":
                self._gather(part, names, state, gathered)
            else:
                gathered.update(self._gather(part, names, state))
        if root is None:
            return
        is_certain = state.whole and not any(gathered.values())  # this one renames after its patches
        is_known = all(source.root.get("data") for source in state.made)
        changed = changes.apply(root, path, self._files, list(gathered), is_certain=is_certain, is_known=is_known)
        state.complete = state.complete and changed.complete
        state.refused += changed.findings
        for gone in set(gathered) - set(changed.objects):
            state.removed.append(gone.root)
            del gathered[gone]

    @staticmethod
    def _generate(roots: Iterable[MappingNode], names: str, state: _Known, gathered: _Gathered) -> None:
        made = [SourceObject(root, "") for root in roots]
        state.made.update(made)
        gathered.update(dict.fromkeys(made, names))

    def _made(self, path: str) -> Sequence[MappingNode]:
        """Return what programs beside the tree generate."""
        folder, name = posixpath.split(path)
        is_program = posixpath.basename(folder) == PROGRAMS and path.startswith("..")
        return self._programs.get(name, ()) if is_program else ()

    def beside(self, folder: str) -> Iterator[MappingNode]:
        """Yield the objects in a kustomization's folder that no kustomization says a word of.

        Beside one that cannot be read nobody knows what is an object, and what a patch.
        """
        if self._root[folder] is None:
            return
        texts = [node.value for root in self._root.values() if root for node in walk(root) if isinstance(node, Scalar)]
        named = {posixpath.basename(text) for text in texts}
        for path, documents in self._files.items():
            if posixpath.dirname(path) == folder and posixpath.basename(path) not in named:
                yield from (root for root in _objects(documents) if root.mapping("metadata"))

    def _entries(self, folder: str, root: MappingNode | None) -> Iterator[str]:
        """Yield the paths of the files and folders that a kustomization refers to."""
        for text in referred(root):
            path = posixpath.normpath(posixpath.join(folder, text))
            yield "" if path == "." else path


def _root(documents: Iterable[Document]) -> MappingNode | None:
    return next((item.root for item in documents if isinstance(item.root, MappingNode)), None)


def _objects(documents: Iterable[Document]) -> Iterator[MappingNode]:
    roots = (document.root for document in documents)
    for root in (node for node in roots if isinstance(node, MappingNode) and _is_object(node)):
        items = mappings(root.get("items")) if root.text("kind").endswith("List") else []
        yield from items if items and all(map(_is_object, items)) else [root]


def _is_object(root: MappingNode) -> bool:
    """Say whether a document is applied as it stands: no kustomization, and nothing local or encrypted."""
    local = root.find("metadata", "annotations", LOCAL)
    is_left_out = local is not None and is_local(local.value if isinstance(local, Scalar) else None)
    is_encrypted = root.find("sops", "mac") is not None
    return (
        bool(root.text("kind"))
        and not root.text("apiVersion").startswith(f"{GROUP}/")
        and not (is_left_out or is_encrypted)
    )
