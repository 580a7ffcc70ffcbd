"""What a tree builds: the objects that each of its kustomizations takes from files.

    base/kustomization.yaml    resources: [cm.yaml]
    prod/kustomization.yaml    resources: [../base]          builds base/cm.yaml;
                               patches: [{path: p.yaml}]     p.yaml is a patch

A kustomization that another one refers to is not a build of its own, nor is a Component. The objects of files without
a kustomization in their folder or above make one build.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.kubernetes.kustomization import GROUP, NAMES, referred
from packyard.yaml.node import Document, MappingNode

#: The fields of a kustomization that leave the names and references of its files unchanged.
_FLAT = ("apiVersion", "kind", "resources", "namespace", "bases", "components")
#: The fields that keep objects apart from those of other kustomizations with the same names.
_RENAMING = ("namePrefix", "nameSuffix", "namespace")

Files = Mapping[str, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Build:
    """The objects that are applied to a cluster together, each once.

    ``complete`` says that no object can come from elsewhere or be changed by a kustomization. ``apart`` has for each
    object, by its node, the kustomizations that rename it.
    """

    objects: tuple[MappingNode, ...]
    complete: bool
    apart: Mapping[int, str] = field(default_factory=dict)


def find(paths: Collection[str], files: Files) -> list[Build]:
    """Return the builds of a tree: ``paths`` are those of its files, ``files`` the documents of YAML files."""
    found = _Kustomizations(paths, files)
    rest = [root for path in files if not found.has_above(path) for root in _objects(files[path])]
    builds = [found.build(folder) for folder in found.tops()]
    return [*builds, Build(tuple(rest), complete=True)] if rest or not builds else builds


class _Kustomizations:
    """The kustomizations of a tree, by the folders that they are in."""

    def __init__(self, paths: Collection[str], files: Files) -> None:
        self._files = files
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
        complete = True
        seen: set[str] = set()
        ahead = [(top, "")]
        while ahead:
            path, names = ahead.pop()
            if path in seen:
                continue
            seen.add(path)
            if path in self._root:
                root = self._root[path]
                if root is None or not all(entry.name in _FLAT for entry in root.entries):
                    complete = False
                if path != top and root and any(root.get(name) is not None for name in _RENAMING):
                    names, complete = f"{len(seen)} {names}", False
                ahead += [(taken, names) for taken in reversed(self._taken[path])]
            elif path in self._files:
                for each in _objects(self._files[path]):
                    objects[id(each)] = each
                    apart[id(each)] = names
            else:
                complete = False
        return Build(tuple(objects.values()), complete, apart)

    def _entries(self, folder: str, root: MappingNode | None) -> Iterator[str]:
        """Yield the paths of the files and folders that a kustomization refers to."""
        for text in referred(root):
            path = posixpath.normpath(posixpath.join(folder, text))
            yield "" if path == "." else path


def _root(documents: Iterable[Document]) -> MappingNode | None:
    return next((item.root for item in documents if isinstance(item.root, MappingNode)), None)


def _objects(documents: Iterable[Document]) -> Iterator[MappingNode]:
    roots = (document.root for document in documents)
    yield from (root for root in roots if isinstance(root, MappingNode) and _is_object(root))


def _is_object(root: MappingNode) -> bool:
    version = root.text("apiVersion")
    return bool(root.text("kind")) and not version.startswith(f"{GROUP}/")
