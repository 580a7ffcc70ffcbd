"""Kustomizations that build on others, taken as the parts that they are: bases, and components as overlays.

    environments/dev/kustomization.yaml        bases/NAME-dev/kustomization.yaml
      resources: [../../base]            ->      resources: [../NAME-base]
      components: [../../simulator]              components: [../../overlays/programs/NAME-simulator]
      patches: [{path: patch.yaml}]              patches: [{path: patch.yaml}]

A kustomization is a part if it says no more than a part may: resources, components, patches and replacements, also by
their older names. A base that says more is a part with the objects that kustomize builds of it. Files stay as they are,
byte for byte, unless a field of theirs is bound.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from posixpath import basename, join, normpath, relpath

from packyard.core.errors import InputError
from packyard.core.files import regular
from packyard.core.kubernetes import kustomization
from packyard.core.yaml import aliases, layout, make
from packyard.core.yaml.document import entries, parse_text, source_of
from packyard.core.yaml.node import Collection, Document, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.span import embedded
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, file_names
from packyard.using.setters import comment
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.krmfile import Krmfile, parse_krmfile
from packyard.using.setters.packages import DEFINITIONS, KPTFILE
from packyard.writing.authoring.import_ import bind, normal
from packyard.writing.authoring.import_.bind import Binder
from packyard.writing.authoring.import_.copied import CopiedPart, listing
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.normal import Bound, content
from packyard.writing.authoring.import_.use_cases import kustomizations

#: Builds a folder as kustomize does: YAML.
Build = Callable[[str], bytes]

_MERGES, _OPERATIONS = "patchesStrategicMerge", "patchesJson6902"
_OF_PATCHES = ("patches", _MERGES, _OPERATIONS)
_FIELDS = {"apiVersion", "kind", *kustomization.LISTED, *_OF_PATCHES, "replacements"}
_OF_PATCH, _OF_REPLACEMENT = {"path", "patch", "target"}, {"path", "source", "targets"}
_TARGET = {*selector.WORDS, "labelSelector", "annotationSelector"}
_MOST = 500  # kustomizations that are looked at, to find where all lie


class _BeyondPartError(Exception):
    """A kustomization says more than a part may."""


def root_of(folder: Path, leaves: Iterable[str]) -> tuple[Path, str]:
    """Return the folder that holds what is imported and all that it builds on, and the place of the first in it."""
    top = Path(os.path.normpath(folder))
    todo, seen = [Path(os.path.normpath(top / leaf)) for leaf in leaves], {top}
    while todo and len(seen) < _MOST:
        place = todo.pop()
        if place.is_dir():
            seen.add(place)
            paths = (Path(os.path.normpath(place / text)) for text in _referred(place) if "://" not in text)
            todo += [path for path in paths if path not in seen]
    common = os.path.commonpath([Path.cwd() / place for place in seen])
    below = os.path.relpath(top, common)
    root = common if top.is_absolute() else os.path.normpath(os.path.relpath(common))
    return Path(root), "" if below == "." else below


def _referred(folder: Path) -> list[str]:
    for name in kustomization.NAMES:
        file = folder / name
        if file.is_file():
            try:
                documents = parse_text(source_of(regular.read(file), str(file)))
            except InputError:
                return []
            return [text for each in documents for text in kustomization.referred(each.root) if text]
    return []


class Structure:
    """The parts of a tree, each taken once; ``below`` is where the tree has what is imported."""

    def __init__(self, sources: Sources, below: str, binder: Binder, build: Build) -> None:
        self.sources, self.below, self.binder, self._build = sources, below, binder, build
        self._taken: dict[tuple[str, str], CopiedPart | None] = {}

    def leaf(self, folder: str) -> tuple[CopiedPart, str] | None:
        """Take a use case, and its namespace; None if it has no structure to keep, or one that no part can have."""
        path = normpath(join(self.below, folder))
        file = self._file(path)
        root = _root(self.sources, file) if file else None
        if root is None or not any(self.sources.is_folder(join(path, each)) for each in kustomization.referred(root)):
            return None
        try:
            return self._copy(path, "Kustomization", is_leaf=True), root.text("namespace")
        except _BeyondPartError:
            return None

    def documents(self, folder: str) -> Iterator[Document]:
        """Yield what a folder holds: objects and patches, those in its kustomization, too."""
        for path in self.sources.list(folder):
            if path.endswith((".yaml", ".yml")) and self.sources.is_file(path):
                with suppress(InputError, _BeyondPartError):  # it is told where it is needed
                    found = self.sources.documents(path)
                    if basename(path) in kustomization.NAMES:
                        found = [_embedded(each) for document in found for each in _inline(document.root)]
                    yield from found

    def _file(self, folder: str) -> str:
        files = kustomizations(self.sources, folder)
        return files[0] if len(files) == 1 else ""

    def _take(self, folder: str, kind: str) -> CopiedPart:
        """Take a part that another one builds on: as it is, or for a base as it is built."""
        key = folder, kind
        if key not in self._taken:
            self._taken[key] = None  # where kustomizations build on each other in a circle
            try:
                self._taken[key] = self._copy(folder, kind)
            except _BeyondPartError:
                self._taken[key] = self._built(folder) if kind == "Kustomization" else None
        part = self._taken[key]
        if part is None:
            raise _BeyondPartError
        return part

    def _built(self, folder: str) -> CopiedPart | None:
        """Take a base as it is built; what it builds on and leaves as it is stays a part of its own."""
        try:
            roots, words = self._objects(folder, self.binder)
            part = CopiedPart(folder, "Kustomization", words=words)
            root = _root(self.sources, self._file(folder))
            for text in kustomization.referred(root, ("resources", "bases")):
                below = normpath(join(folder, text))
                if text and "://" not in text and self.sources.is_folder(below):
                    roots = self._without(part, roots, below)
        except InputError:
            return None
        names = file_names([SourceObject(root, "") for root in roots])
        part.files = {name: layout.write(root) for name, root in zip(names, roots, strict=True)}
        part.listed = [listing(name) for name in names]
        return part

    def _without(self, part: CopiedPart, roots: list[MappingNode], folder: str) -> list[MappingNode]:
        """Let a part build on a folder if it has all objects of that as they are; return its others."""
        below, _ = self._objects(folder, replace(self.binder, notes=[], defined={}))
        own, inner = {content(root) for root in roots}, {content(root) for root in below}
        if not inner or not inner <= own:
            return roots
        try:
            part.resources.append(self._take(folder, "Kustomization"))
        except _BeyondPartError:
            return roots
        return [root for root in roots if content(root) not in inner]

    def _objects(self, folder: str, binder: Binder) -> tuple[list[MappingNode], dict[str, Word]]:
        text = self._build(relpath(folder or ".", self.below or "."))
        documents = bind.documents(source_of(text, f"{self.sources.shown(folder)} as built"))
        roots, words = binder.bind(documents, None)
        return list(roots), words

    def _copy(self, folder: str, kind: str, *, is_leaf: bool = False) -> CopiedPart:
        file = self._file(folder)
        root = _root(self.sources, file) if file else None
        if root is None or not _is_part(root, kind, is_leaf=is_leaf):
            raise _BeyondPartError
        part = CopiedPart(folder, kind, head=[*self.sources.documents(file)[0].head, *root.entries[0].head])
        files: dict[str, list[Document]] = {}
        for key in kustomization.LISTED:
            for item in _items(root, key):
                self._list(part, key, item, files)
        patches = [_patch(key, item) for key in _OF_PATCHES for item in _items(root, key)]
        replacements = [make.like(item, make.clone) for item in _items(root, "replacements")]
        for each in (*patches, *replacements):
            _check_entry(each.value)
            if path := each.value.scalar("path"):
                files[normpath(path.value)] = self._read(folder, path.value)
        inline = {id(each.value): _embedded(text) for each in patches if (text := each.value.scalar("patch"))}
        documents = [document for some in (*files.values(), inline.values()) for document in some]
        bound, part.words = self.binder.find(documents, krmfile_of(self.sources, folder))
        part.files = {path: self._write(join(folder, path), some, bound) for path, some in files.items()}
        for each in patches:
            self._fill(each.value, bound, inline.get(id(each.value)))
        part.entries += [make.entry("patches", make.sequence("", patches))] if patches else []
        part.entries += [make.entry("replacements", make.sequence("", replacements))] if replacements else []
        return part

    def _list(self, part: CopiedPart, key: str, item: Item, files: dict[str, list[Document]]) -> None:
        """Take what a kustomization lists: a part, or a file of objects."""
        text = item.value.value if isinstance(item.value, Scalar) else ""
        path = normpath(join(part.source, text))
        if not text or "://" in text or path.startswith("..") or not self.sources.exists(path):
            raise _BeyondPartError
        if not self.sources.is_folder(path):
            files[normpath(text)] = documents = self._read(part.source, text)
            if key == "components" or any(not _is_object(each.root) for each in documents):
                raise _BeyondPartError
            part.listed.append(item)
        elif key == "components":
            part.components.append(self._take(path, "Component"))
        else:
            part.resources.append(self._take(path, "Kustomization"))

    def _read(self, folder: str, text: str) -> list[Document]:
        """Read a file of a part, which lies beside its kustomization or below."""
        path = normpath(join(folder, text))
        if normpath(text).startswith(("..", "/")) or not self.sources.is_file(path):
            raise _BeyondPartError
        return self.sources.documents(path)

    def _write(self, path: str, documents: Sequence[Document], bound: Bound) -> bytes:
        """Return a file as it is, or as we write it where a field of it is bound."""
        data, roots = self.sources.read(path), [(each, each.root) for each in documents]
        if not any(root and bound.touches(root) for _, root in roots) and not _is_marked(data):
            return data
        written = (layout.write(_normal(root, bound), head=each.head, tail=each.tail) for each, root in roots if root)
        return b"---\n".join(written)

    def _fill(self, patch: Node, bound: Bound, inline: Document | None) -> None:
        """Write what is bound in a patch that stands in its kustomization."""
        entry_of = patch.entry("patch")
        if entry_of and inline and isinstance(inline.root, Collection) and bound.touches(inline.root):
            entry_of.value = make.literal(layout.write(_normal(inline.root, bound)).decode(), "")


def krmfile_of(sources: Sources, folder: str) -> Krmfile | None:
    """Read the definitions of a folder; kpt 0.x has them in its Kptfile."""
    for name in (KRMFILE, KPTFILE):
        path = join(folder, name)
        if sources.is_file(path) and (name == KRMFILE or DEFINITIONS in sources.read(path)):
            return parse_krmfile(sources.text(path))
    return None


def _root(sources: Sources, file: str) -> MappingNode | None:
    documents = sources.documents(file)
    root = documents[0].root if len(documents) == 1 else None
    return root if isinstance(root, MappingNode) else None


def _items(root: Node, key: str) -> list[Item]:
    listed = root.get(key)
    return list(listed.items) if isinstance(listed, SequenceNode) else []


def _is_part(root: MappingNode, kind: str, *, is_leaf: bool) -> bool:
    fields = {*_FIELDS, *(["namespace"] if is_leaf else [])}
    values = (root.get(name) for name in fields - {"apiVersion", "kind", "namespace"})
    listed = all(isinstance(value, SequenceNode | None) for value in values)
    return listed and {entry.name for entry in root.entries} <= fields and root.text("kind", "Kustomization") == kind


def _patch(key: str, item: Item) -> Item:
    """Return a patch by the fields of today."""
    if isinstance(item.value, MappingNode) and key != _MERGES:
        patch = Item(make.clone(item.value), 0)
    elif isinstance(item.value, Scalar) and key == _MERGES:
        field = "patch" if "\n" in item.value.value else "path"
        patch = Item(make.mapping("", {field: make.clone(item.value)}), 0)
    else:
        raise _BeyondPartError
    patch.head = list(item.head)
    return patch


def _check_entry(entry: Node) -> None:
    """Refuse options of patches and replacements."""
    keys, words = ({each.name for each in entries(node)} for node in (entry, entry.mapping("target")))
    is_known = keys <= _OF_PATCH or keys <= _OF_REPLACEMENT
    if not isinstance(entry, MappingNode) or not is_known or words - _TARGET:
        raise _BeyondPartError


def _inline(root: Node | None) -> Iterator[Scalar]:
    """Yield the patches that stand in a kustomization."""
    for key in _OF_PATCHES:
        for item in _items(root, key) if root else ():
            text = item.value.get("patch") if isinstance(item.value, MappingNode) else item.value
            if isinstance(text, Scalar) and (text is not item.value or "\n" in text.value):
                yield text


def _embedded(text: Scalar) -> Document:
    documents = [each for each in aliases.read(embedded(text)) if each.root is not None]
    if len(documents) != 1:
        raise _BeyondPartError
    return documents[0]


def _is_object(root: Node | None) -> bool:
    if not isinstance(root, MappingNode) or root.get("items") is not None:
        return False
    version, kind, _, name = selector.identity(root)
    return bool(version and kind and name)


def _is_marked(data: bytes) -> bool:
    return comment.is_marked(data) or b"kpt-set:" in data


def _normal(root: Node, bound: Bound) -> Collection:
    written = normal.write(root, bound, bind.is_reference)
    assert isinstance(written, Collection)
    return written
