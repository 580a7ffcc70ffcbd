"""The packages that a list's objects are of, each with its Krmfile: from the list itself, or from the disk.

kpt and kustomize hand on ``*.yaml`` and ``*.yml`` alone, so a Krmfile is in the list only where somebody put it there.
Otherwise it is read from the folder that the paths of the objects begin at: the one that the caller names, the one
that ``kpt fn render`` writes to each object, or the working directory. What a function records goes back as an object
of the list, so that whoever started it writes it, or does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.core.yaml import content, splice
from packyard.core.yaml.content import Text, double
from packyard.core.yaml.document import decode, parse_one
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Document, MappingNode, Node
from packyard.core.yaml.proof import rewrite
from packyard.core.yaml.values import to_value
from packyard.using.functions.resourcelist import (
    BASE_ANNOTATION,
    INDEX_ANNOTATIONS,
    PATH_ANNOTATIONS,
    ResourceItem,
    ResourceList,
)
from packyard.using.setters import fields
from packyard.using.setters.krmfile import NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPackage:
    """A package whose objects are in a list; its ``path`` begins where theirs begin.

    ``held`` is the Krmfile where it is an object of the list, ``directory`` the package's folder where it is on disk.
    """

    path: str
    krmfile: bytes
    objects: tuple[ResourceItem, ...]
    held: ResourceItem | None = None
    directory: Path | None = None

    @property
    def where(self) -> str:
        """What stands before the names of its files in messages."""
        shown = os.path.relpath(self.directory) if self.directory else self.path
        return "" if shown in ("", ".") else f"{shown}/"


def find(resources: ResourceList, directory: Path | None = None) -> list[ListedPackage]:
    """Return the packages of the objects that have comments of kustomize, by the nearest Krmfile above each.

    ``directory`` is the folder that the paths of the objects begin at, where the caller knows it. Raises `InputError`
    where a Krmfile is needed and cannot be found.
    """
    held = {_place(item): item for item in resources.items if _is_krmfile(item)}
    objects: dict[tuple[str, str], list[ResourceItem]] = {place: [] for place in held}
    trees: dict[str, Tree] = {}
    for item in (each for each in resources.items if fields.find(each.document)):
        above = _above(_place(item))
        if held:
            place = next((each for each in above if each in held), None)
        else:
            root = directory or (Path(item.base) if item.base and Path(item.base).is_dir() else Path())
            tree = trees.setdefault(item.base, Tree(root))
            if not (item.path and tree.has_file(item.path)):
                raise _missing(f"{root.absolute()} has no file {item.path}".rstrip())
            place = next((each for each in above if tree.has_file(_join(each[1], NAME))), (item.base, ""))
        if place:
            objects.setdefault(place, []).append(item)
    return [_package(place, items, held.get(place), trees.get(place[0])) for place, items in objects.items()]


def _package(
    place: tuple[str, str], items: Sequence[ResourceItem], held: ResourceItem | None, tree: Tree | None
) -> ListedPackage:
    if held:
        text = "".join(_moved(held.root.lexeme, -_column(held.root)))
        return ListedPackage(path=place[1], krmfile=text.encode(), objects=tuple(items), held=held)
    assert tree is not None
    if not tree.has_file(file := _join(place[1], NAME)):
        raise _missing(f"{tree.root_dir} has none")
    folder = Path(tree.root_dir) / place[1]
    return ListedPackage(path=place[1], krmfile=tree.read(file), objects=tuple(items), directory=folder)


def _missing(why: str) -> InputError:
    message = f"the comments of these objects refer to a Krmfile, and {why}"
    hint = "name the folder that kpt or kustomize is given: packyard fn apply-setters FOLDER"
    return InputError(Problem(message, hint=hint))


def with_krmfiles(data: bytes, changed: Sequence[tuple[ListedPackage, bytes]]) -> bytes:
    """Return a list whose Krmfiles have other bytes: each in the place of the one that it holds, or before the rest."""
    for package, krmfile in changed:
        resources = ResourceList(data)
        held = next((item for item in resources.items if _is_same(item, package.held)), None)
        text = _replaced(held, krmfile) if held else _inserted(resources, package, krmfile)
        data = (resources.mark + text).encode()
        if not any(_reads(item, krmfile) for item in ResourceList(data).items if _is_krmfile(item)):
            raise InputError(Problem("cannot be written into the list", file=package.where + NAME))
    return data


def _is_krmfile(item: ResourceItem) -> bool:
    return item.root.text("kind") == NAME and item.root.text("apiVersion").startswith("config.k8s.io/")


def _place(item: ResourceItem) -> tuple[str, str]:
    """Return the folder that an object stands in, below the one that its path begins at."""
    return item.base, item.path.rpartition("/")[0]


def _above(place: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a place and all above it."""
    base, folder = place
    while folder:
        yield base, folder
        folder = folder.rpartition("/")[0]
    yield base, ""


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _is_same(item: ResourceItem, held: ResourceItem | None) -> bool:
    return held is not None and _is_krmfile(item) and (item.base, item.path) == (held.base, held.path)


def _reads(item: ResourceItem, krmfile: bytes) -> bool:
    expected = to_value(parse_one(krmfile, NAME).root)
    actual = to_value(item.root)
    assert isinstance(actual, dict)
    assert isinstance(expected, dict)
    return {**actual, "metadata": None} == {**expected, "metadata": None}


def _column(node: Node) -> int:
    return node.start - node.source.line_start(node.start)


def _moved(text: str, columns: int) -> Iterator[str]:
    """Yield the lines of a text, all but the first so many columns further to the right, or to the left."""
    first, *others = text.splitlines(keepends=True)
    yield first
    for line in others:
        indent = len(line) - len(line.lstrip(" "))
        yield " " * columns + line if columns > 0 and line.strip() else line[min(-columns, indent) :]


def _replaced(held: ResourceItem, krmfile: bytes) -> str:
    root, text = held.root, held.root.source.text
    return text[: root.start] + "".join(_moved(krmfile.decode(), _column(root))) + text[root.end :]


def _inserted(resources: ResourceList, package: ListedPackage, krmfile: bytes) -> str:
    """Write a Krmfile as the first item."""
    entry, text = resources.root.entry("items"), resources.root.source.text
    assert entry is not None
    at = text.find("\n", entry.key.end) + 1
    if entry.value.start < at:
        raise InputError(entry.value.problem("a Krmfile can only be added to items that have lines of their own"))
    indent = " " * _column(entry.value)
    krmfile_text = decode(rewrite(krmfile, package.where + NAME, lambda document: _name(document, package)), NAME)[1]
    lines = "".join(_moved(krmfile_text.removeprefix("---\n").strip("\n"), len(indent) + 2))
    return f"{text[:at]}{indent}- {lines}\n{text[at:]}"


def _name(document: Document, package: ListedPackage) -> list[Edit]:
    """Say in its metadata where a Krmfile stands, in the words of an object beside it, and give it the name for kpt."""
    root, beside = document.root, package.objects[0]
    assert isinstance(root, MappingNode)
    places: dict[str, content.Tree] = {
        **{name: Text(_join(package.path, NAME)) for name in beside.annotated(PATH_ANNOTATIONS)},
        **{name: double("0") for name in beside.annotated(INDEX_ANNOTATIONS)},
        **{name: Text(beside.base) for name in beside.annotated((BASE_ANNOTATION,))},
    }
    metadata = root.mapping("metadata")
    name = {} if metadata and metadata.get("name") else {"name": Text(NAME.lower())}
    if metadata is None:
        return splice.append(root, {"metadata": {**name, "annotations": places}})
    return [*splice.append(metadata, name), *splice.add(root, ("metadata", "annotations"), places)]
