"""The options of a use case: those in the folder `options/` above it, inside its package, and those that it has on.

    resnet50/packyard.json
    resnet50/quickstart/mlops/options/queue/kustomization.yaml                  the option queue
    resnet50/quickstart/mlops/multi-node/user-mounted-nfs/kustomization.yaml    its list of components has the line
                                                                                - ../../options/queue

Without a packyard.json the package ends with the folder that holds `options/`. A link is not an option. A file of the
use case that an option needs is added to its resources, and leaves them with it. What else the kustomization says
stays as it is, byte for byte.
"""

import os
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files import filenames, paths
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import items as nodes_of
from packyard.core.yaml.document import parse_one, scalars
from packyard.core.yaml.node import Document, Item, MappingNode, Scalar, SequenceNode
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.splice import change
from packyard.core.yaml.values import listed
from packyard.using.options.folder import OPTIONS, needed

_COMPONENTS, _RESOURCES = "components", "resources"


class Options:
    """The options of a package, as a use case sees them: ``tree`` is its directory, ``folder`` that of the options.

    ``real`` is the real path of that folder, which ``line`` leads to from the use case.
    """

    def __init__(self, tree: Tree, real: str) -> None:
        self.tree = tree
        self.real = real
        self.use_case = os.path.realpath(tree.root_dir)
        self.line = os.path.relpath(real, self.use_case)
        self.folder = tree.at(paths.seen(tree.root_dir, real))

    @classmethod
    def of_file(cls, directory: Path, real: str, data: bytes, name: str) -> "Options":
        """Return the same for a kustomization in memory, which messages call ``name``."""
        options = cls(Tree(directory), real)
        options.file, options.data, options._name = os.path.basename(name), data, name
        return options

    @cached_property
    def file(self) -> str:
        """The name of the use case's kustomization."""
        return kustomization.find(self.tree.root_dir, self.tree.has_file, hint="name the directory of one use case")

    @cached_property
    def data(self) -> bytes:
        """The bytes of the use case's kustomization."""
        return self.tree.read(self.file)

    @cached_property
    def enabled(self) -> dict[str, Item]:
        """The options that are enabled, in their order, each with its line."""
        enabled: dict[str, Item] = {}
        components = listed(self._root, _COMPONENTS)
        for item in components.items if components else ():
            name = self._named(item.value.value) if isinstance(item.value, Scalar) else ""
            if name:
                enabled.setdefault(name, item)
        return enabled

    def names(self) -> list[str]:
        """Return the names of the options that are there."""
        folders = (entry for entry in os.scandir(self.real) if entry.is_dir(follow_symlinks=False))
        return sorted(entry.name for entry in folders if not filenames.reserved(entry.name) and _holds(entry.path))

    def option_file(self, name: str) -> str:
        """Return the path of an option's kustomization in the folder."""
        files = kustomization.names(lambda file: self.folder.has_file(f"{name}/{file}"))
        return f"{name}/{files[0] if files else kustomization.FILE}"

    def switched(self, on: Sequence[str], off: Collection[str] = ()) -> bytes:
        """Return the kustomization with a line for each of some options, behind the others, and without those of some.

        A key of which nothing is left goes with its list.
        """
        files = dict.fromkeys(file for name in on for file in self._needed(name))
        staying = {file for name in self.enabled.keys() - off for file in self._needed(name)}
        leaving = {file for name in self.enabled.keys() & off for file in self._needed(name)}.difference(files, staying)
        lines = {key: _texts(listed(self._root, key)) for key in (_COMPONENTS, _RESOURCES)}
        new = {
            _COMPONENTS: [line for line in lines[_COMPONENTS] if self._named(line) not in off],
            _RESOURCES: [file for file in lines[_RESOURCES] if file not in leaving],
        }
        new[_COMPONENTS] += (f"{self.line}/{name}" for name in on)
        new[_RESOURCES] += (file for file in files if file not in lines[_RESOURCES])
        values = {key: texts or None for key, texts in new.items() if texts != lines[key]}
        changed = apply_to_file(self.data, self._document.source, change(self._root, values), [self._document])
        return self.data if changed is None else changed

    @cached_property
    def _name(self) -> str:
        return self.tree.prefix + self.file

    @cached_property
    def _document(self) -> Document:
        return parse_one(self.data, self._name)

    @property
    def _root(self) -> MappingNode:
        root = self._document.root
        if not isinstance(root, MappingNode):
            raise InputError(Problem("must be a mapping", file=self._name, line=1))
        return root

    def _named(self, component: str) -> str:
        """Return the name of the option that a line of `components` stands for; an empty text for another component."""
        if component.startswith("/") or "\0" in component:
            return ""
        above, name = os.path.split(os.path.normpath(os.path.join(self.use_case, component)))
        return name if above == self.real else ""

    def _needed(self, name: str) -> list[str]:
        """Return the files of the use case that an option needs: ``# packyard: with resource-claim-template.yaml``."""
        option = self.option_file(name)
        if not self.folder.has_file(option):  # an upgrade enables what another version has
            return []
        return [file for file in needed(self.folder.read(option)) if self.tree.has_file(file)]


def find(tree: Tree) -> Options | None:
    """Find the options of a use case; None where its package has none."""
    package = paths.package_of(tree.root_dir)
    for folder in paths.above(os.path.realpath(tree.root_dir)):
        if not paths.is_inside(folder, package):
            break
        options = f"{folder}/{OPTIONS}"
        if os.path.islink(options):
            message = f"is a link to {os.path.realpath(options)}; a package must not contain links"
            raise InputError(Problem(message, file=options))
        if os.path.isdir(options) and (folder_options := Options(tree, options)).names():
            return folder_options
    return None


def names(directory: Path) -> list[str]:
    """Return the names of a use case's options."""
    options = find(Tree(directory))
    return options.names() if options else []


def _holds(folder: str) -> bool:
    return not all(os.path.islink(f"{folder}/{name}") for name in kustomization.on_disk(folder))


def _texts(node: SequenceNode | None) -> list[str]:
    """Return the paths that are listed."""
    refuse(item.problem("must be a path") for item in nodes_of(node) if not isinstance(item, Scalar))
    return [scalar.value for scalar in scalars(node)]
