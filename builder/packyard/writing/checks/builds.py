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
from packyard.core.kubernetes.kinds import CORE, is_kind, name_of
from packyard.core.kubernetes.kustomization import GROUP, NAMES, referred
from packyard.core.yaml.document import mappings, walk
from packyard.core.yaml.node import Document, Entry, MappingNode, Scalar
from packyard.using.options.folder import PROGRAMS

#: The fields of a kustomization that leave the names and references of its files unchanged.
_FLAT = ("apiVersion", "kind", "resources", "namespace", "bases", "components")
#: The fields that keep objects apart from those of other kustomizations with the same names.
_RENAMING = ("namePrefix", "nameSuffix", "namespace")

#: The fields of a kustomization that make objects, or change which there are.
_MAKING = (
    "generators",
    "transformers",
    "configMapGenerator",
    "secretGenerator",
    "helmCharts",
    "helmChartInflationGenerator",
)

Files = Mapping[str, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Build:
    """The objects that are applied to a cluster together, each once.

    ``complete`` says that no object can come from elsewhere or be changed by a kustomization. ``apart`` has for each
    object, by its node, the kustomizations that rename it. ``kustomizations`` are the ones that it is built by, and
    ``is_whole`` says that all their objects are known: none comes from elsewhere, or is generated. ``is_loose`` says
    that nothing puts the files together: neither a kustomization nor a Krmfile. ``generated`` are the names of
    ConfigMaps that its programs make, before their hashes.
    """

    objects: tuple[MappingNode, ...]
    complete: bool
    apart: Mapping[int, str] = field(default_factory=dict)
    kustomizations: tuple[MappingNode, ...] = ()
    is_whole: bool = False
    is_loose: bool = False
    generated: frozenset[str] = frozenset()

    def image(self, reference: str) -> str:
        """Return an image as the kustomizations leave it."""
        for name, new in (each for root in self.kustomizations for each in kustomization.images(root)):
            if images.parse(reference).name == name:
                reference = images.replaced(reference, new)
        return reference


def find(
    paths: Collection[str],
    files: Files,
    *,
    is_loose: bool = False,
    programs: Mapping[str, frozenset[str]] | None = None,
) -> list[Build]:
    """Return the builds of a tree: ``paths`` are those of its files, ``files`` the documents of YAML files.

    The rest, which no kustomization has, is one build; if it ``is_loose``, one for each folder. ``programs`` are the
    names of ConfigMaps that folders beside the tree make, by the folders' names.
    """
    found = _Kustomizations(paths, files, programs or {})
    rest: dict[str, list[MappingNode]] = {}
    for path in files:
        if not found.has_above(path):
            rest.setdefault(posixpath.dirname(path) if is_loose else "", []).extend(_objects(files[path]))
    builds = [found.build(folder) for folder in found.tops()]
    beside = [] if is_loose else [tuple(found.beside(folder)) for folder in found.tops()]
    builds += [Build(roots, complete=False) for roots in beside if roots]
    builds += [Build(tuple(roots), complete=True, is_loose=is_loose) for roots in rest.values() if roots]
    return builds or [Build((), complete=True)]


class _Kustomizations:
    """The kustomizations of a tree, by the folders that they are in."""

    def __init__(self, paths: Collection[str], files: Files, programs: Mapping[str, frozenset[str]]) -> None:
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
        parts = {path for folder, taken in self._taken.items() for path in taken if path != folder}
        for folder, root in self._root.items():
            if folder not in parts and not (root and root.text("kind") == "Component"):
                yield folder

    def build(self, top: str) -> Build:
        """Return the build of a kustomization; one that is referred to twice is followed once."""
        objects: dict[int, MappingNode] = {}
        apart: dict[int, str] = {}
        complete = whole = True
        seen: set[str] = set()
        roots: list[MappingNode] = []
        generated: frozenset[str] = frozenset().union(*map(self._made, self._taken[top]))
        ahead = [(top, "")]
        while ahead:
            path, names = ahead.pop()
            if path in seen:
                continue
            seen.add(path)
            if path in self._root:
                root = self._root[path]
                roots += [root] if root else []
                whole = whole and root is not None and not any(root.get(name) for name in _MAKING)
                if root is None or not all(self._is_flat(path, entry, generated) for entry in root.entries):
                    complete = False
                if path != top and root and any(root.get(name) is not None for name in _RENAMING):
                    names, complete = f"{len(seen)} {names}", False
                ahead += [(taken, names) for taken in reversed(self._taken[path])]
            elif path in self._files:
                objects_there = list(_objects(self._files[path]))
                whole = whole and bool(objects_there)  # an empty file is filled in by somebody
                for each in objects_there:
                    objects[id(each)] = each
                    apart[id(each)] = names
            elif not self._made(path):
                complete = whole = False
        return Build(tuple(objects.values()), complete, apart, tuple(roots), whole, generated=generated)

    def _made(self, path: str) -> frozenset[str]:
        """Return the names of the ConfigMaps of programs beside the tree."""
        folder, name = posixpath.split(path)
        is_program = posixpath.basename(folder) == PROGRAMS and path.startswith("..")
        return self._programs.get(name, frozenset()) if is_program else frozenset()

    def _is_flat(self, folder: str, entry: Entry, generated: frozenset[str]) -> bool:
        """Say whether a field leaves objects as they are in their files: patches may change what programs make."""
        if entry.name != "patches" or not generated:
            return entry.name in _FLAT
        paths = [posixpath.normpath(posixpath.join(folder, each.text("path"))) for each in mappings(entry.value)]
        changed = [root for path in paths for root in _objects(self._files.get(path, ()))]
        return len(changed) == len(paths) and all(
            is_kind(root, CORE, "ConfigMap") and (name := name_of(root)) is not None and name.value in generated
            for root in changed
        )

    def beside(self, folder: str) -> Iterator[MappingNode]:
        """Yield the objects in a kustomization's folder that no kustomization says a word of."""
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
    for root in (each for each in roots if isinstance(each, MappingNode) and _is_object(each)):
        items = mappings(root.get("items")) if root.text("kind").endswith("List") else []
        yield from items if items and all(map(_is_object, items)) else [root]


def _is_object(root: MappingNode) -> bool:
    version = root.text("apiVersion")
    return bool(root.text("kind")) and not version.startswith(f"{GROUP}/")
