"""What packyard's own build reads of a kustomization: what packyard ships, and the Components that a user adds to it.

That is what a `Reader` reads, of files and of Components in the package; and ``namespace``, as `kustomize edit set
namespace` writes it. Any other field is refused by name and line: whoever uses one can install the real program.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import dirname, join, relpath

from packyard.core.errors import BeyondError, InputError, Problem, refuse, suggest
from packyard.core.files import paths, regular
from packyard.core.files.paths import is_inside, outside
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import entries, mappings, parse_one, scalars
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import is_null
from packyard.using.kustomize import generator
from packyard.using.kustomize.part import Part
from packyard.using.kustomize.reader import Reader, is_text

HINT = "install kustomize or kubectl, which packyard then builds with"

#: What is read for one directory at most.
MAX_FILES, MAX_BYTES = 1000, 8 * 1024 * 1024

_TRIED = ("apiVersion", "kind", "resources", "components")
_OF_COMPONENT = (*_TRIED, "configMapGenerator", "configurations", "patches")
_FIELDS = {"Component": _OF_COMPONENT, "Kustomization": (*_OF_COMPONENT, "namespace")}


class Budget:
    """A number of files, and of bytes, that are read for a directory; more is refused."""

    def __init__(self, directory: Path, hint: str) -> None:
        self.directory = directory
        self._hint = hint
        self._files, self._bytes = MAX_FILES, MAX_BYTES

    def spend(self, data: bytes) -> bytes:
        """Count a file, and return its bytes."""
        self._files -= 1
        self._bytes -= len(data)
        if min(self._files, self._bytes) < 0:
            message = f"is built from more than {MAX_FILES} files, or {MAX_BYTES} bytes"
            raise InputError(Problem(message, file=str(self.directory), hint=self._hint))
        return data


class PackageSources(Sources):
    """The files of the package around a directory, within a budget."""

    whose = "package"

    def __init__(self, tree: Tree) -> None:
        self.directory = directory = tree.root_dir
        real, package = os.path.realpath(directory), paths.package_of(directory)
        super().__init__(Path(paths.seen(directory, package)))
        self.top = paths.below(real, package)
        self._budget = Budget(directory, HINT)
        self._package = tree.at(self.root_dir)
        self._spent: set[str] = set()

    def shown(self, path: str) -> str:
        """Return a path as seen from the directory if it lies in there, else from the package."""
        if is_inside(f"/{path}", f"/{self.top}"):
            return os.path.normpath(self.directory / os.path.relpath(f"/{path}", f"/{self.top}"))
        return super().shown(path)

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        data = self._package.read(self.resolve(path))
        if path not in self._spent:
            self._spent.add(path)
            self._budget.spend(data)
        return data


def read(sources: PackageSources, data: bytes | None = None) -> Part:
    """Read a directory and the components that it names.

    With ``data`` that is taken for its kustomization, of which fields that act after the components, for example
    images, are passed over. Raises `BeyondError` where only kustomize can say.
    """
    if not regular.is_folder(sources.directory):
        raise InputError(Problem("is not a directory", file=str(sources.directory)))
    return _Reader(sources, data).part(sources.top, "Kustomization", ())


class _Reader(Reader):
    """Reads what our own build follows."""

    def __init__(self, sources: PackageSources, data: bytes | None) -> None:
        super().__init__(sources)
        self._top, self._data = sources.top, data

    def begin(self, file: str, kind: str) -> Fields:
        """Open a kustomization; what only kustomize follows is refused before faults are told."""
        shown, folder = self.sources.shown(file), dirname(file)
        tried = self._data if folder == self._top else None
        data = self.sources.read(file) if tried is None else tried
        fields = Fields(parse_one(data, shown).root, shown, "")
        if fields.node is None:
            raise InputError(*fields.problems)
        if kustomization.is_empty(fields.node):
            fields.fault(fields.node, "", "is empty, and kustomize refuses it")
        if tried is not None:
            fields.node.children = [entry for entry in fields.node.entries if entry.name in _TRIED]
        refuse(self._beyond(fields.node, dirname(shown), kind), BeyondError)
        return fields

    def end(self, part: Part, fields: Fields, kind: str) -> Part:
        """Read the namespace."""
        namespace = fields.anything("namespace") if kind == "Kustomization" else None
        if namespace is None or is_null(namespace):
            return part
        if not is_text(namespace):
            fields.fault(namespace, "namespace", "must be text", "put it in quotes")
        return replace(part, namespace=fields.text("namespace", ""))

    def file(self, fields: Fields, node: Node, key: str, folder: str, name: str = "") -> str | None:
        """Return a file, which lies in the folder."""
        path = super().file(fields, node, key, folder, name)
        if path is None or is_inside(f"/{self.sources.resolve(path)}", f"/{folder}"):
            return path
        message = f"{relpath(path, folder)!r} lies outside of the directory"
        fields.fault(node, key, message, "kustomize refuses it as well")
        return None

    def _beyond(self, root: Node, folder: str, kind: str) -> Iterator[Problem]:
        """Yield what only kustomize knows, or follows."""
        yield from _others(root, _FIELDS[kind], kind)
        for item in mappings(root.get("configMapGenerator")):
            yield from _others(item, generator.KEYS, "configMapGenerator")
            yield from _others(item.get("options"), generator.OPTIONS, "generator")
        for patch in mappings(root.get("patches")):
            yield from _others(patch, ("path", "patch", "target"), "patch")
        top = self.sources.root_dir
        beyond = {"resources": "is a directory or an address", "components": f"is not in the package {top}"}
        for field, what in beyond.items():
            for node in scalars(root.get(field)):
                path = join(folder, node.value)
                is_address = not os.path.lexists(path) and ("//" in node.value or "?" in node.value)
                if is_address or (regular.is_folder(path) and (field == "resources" or outside(top, path))):
                    message = f"{node.value!r} of {field} {what}, which packyard's own build does not follow"
                    yield node.problem(message, HINT)


def _others(node: Node | None, known: Sequence[str], what: str) -> Iterator[Problem]:
    """Yield what a part of a kustomization says and only kustomize knows."""
    fields = kustomization.FIELDS if "resources" in known else known
    for entry in entries(node):
        if entry.name not in known:
            message = f"field {entry.name!r} of a {what} is not supported by packyard's own build"
            meant = () if entry.name in fields else fields
            yield entry.key.problem(message, suggest(entry.name, meant) or HINT)
