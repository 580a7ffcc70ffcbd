"""The lines of a use case's kustomization that switch options on, and the edits that add one or take one out.

    resources:                       resources:
    - config-map.yaml                - config-map.yaml
    - job.yaml              ->       - job.yaml
                                     components:
                                     - ../../options/queue

A file of the use case that an option needs is added to its resources, and leaves them with it. What else the file says
stays as it is, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml import items
from packyard.core.yaml.document import decode, parse_one, scalars
from packyard.core.yaml.document import items as nodes_of
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Item, MappingNode, Scalar, SequenceNode
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.splice import change, remove
from packyard.core.yaml.values import listed
from packyard.using.options.folder import Folder

_KEY, _RESOURCES = "components", "resources"


class EnabledOptions:
    """The kustomization of a use case: its bytes, and the options among its components."""

    __slots__ = ("_document", "_root", "data", "folder", "name", "options")

    def __init__(self, data: bytes, name: str, shown: str, folder: Folder) -> None:
        self.data = data
        self.name = name
        self.folder = folder
        self._document = parse_one(data, shown)
        if not isinstance(self._document.root, MappingNode):
            raise InputError(Problem("must be a mapping", file=shown, line=1))
        self._root = self._document.root
        #: The options that are enabled, in their order, each with its line.
        self.options: dict[str, Item] = {}
        components = listed(self._root, _KEY)
        for item in components.items if components else ():
            option = folder.name_of(item.value.value) if isinstance(item.value, Scalar) else ""
            if option:
                self.options.setdefault(option, item)

    @classmethod
    def read(cls, tree: Tree, folder: Folder) -> EnabledOptions:
        """Read the kustomization of a tree's root, which is a use case."""
        name = kustomization.find(tree.root_dir, tree.has_file, hint="name the directory of one use case")
        return cls(tree.read(name), name, tree.prefix + name, folder)

    def text_with(self, names: Iterable[str], *, alone: bool = False) -> str:
        """Return the text with these options added, for a trial; ``alone`` without those that are enabled."""
        data = self.without(list(self.options)) if alone else self.data
        base = EnabledOptions(data, self.name, self._document.source.name, self.folder)
        return decode(base.with_options(names), self._document.source.name)[1]

    def with_options(self, names: Iterable[str]) -> bytes:
        """Return the bytes with a line for each of these options, behind the components that are there."""
        added = list(names)
        lines = [f"{self.folder.line}/{name}" for name in added]
        present = _texts(listed(self._root, _RESOURCES))
        files = [file for name in added for file in self.folder.beside(name) if file not in present]
        return self._edited([*self._added(_KEY, lines), *self._added(_RESOURCES, files)])

    def without(self, names: Iterable[str]) -> bytes:
        """Return the bytes without the lines of options, and without the key where nothing is left of its list."""
        gone = set(names)
        present = gone & self.options.keys()
        if not present:
            return self.data
        files = {file for name in present for file in self.folder.beside(name)}
        lines = self._less(_KEY, lambda line: self.folder.name_of(line) in gone)
        return self._edited([*lines, *(self._less(_RESOURCES, files.__contains__) if files else [])])

    def _less(self, key: str, goes: Callable[[str], bool]) -> list[Edit]:
        """Return the edits that take lines out of a list, and the key where nothing is left."""
        node = listed(self._root, key)
        lines = _texts(node)
        places = [at for at, line in enumerate(lines) if not goes(line)]
        if node is None or len(places) == len(lines):
            return []
        if not places:
            return remove(self._root, {key})
        return items.replace(node, [lines[at] for at in places], places, self._root.entry(key))

    def _added(self, key: str, lines: list[str]) -> list[Edit]:
        node = listed(self._root, key)
        if not lines:
            return []
        if node is None:
            return change(self._root, {key: lines})
        old = _texts(node)
        same = [*range(len(old)), *(None for _ in lines)]
        return items.replace(node, [*old, *lines], same, self._root.entry(key))

    def _edited(self, edits: list[Edit]) -> bytes:
        changed = apply_to_file(self.data, self._document.source, edits, [self._document])
        return self.data if changed is None else changed


def _texts(node: SequenceNode | None) -> list[str]:
    """Return the paths that are listed."""
    refuse(each.problem("must be a path") for each in nodes_of(node) if not isinstance(each, Scalar))
    return [each.value for each in scalars(node)]
