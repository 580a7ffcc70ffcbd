"""Bases and overlays on disk: their kustomization.yaml, its resources, components and patches, and their Krmfile.

The composer understands ``resources``, ``components``, ``configMapGenerator``, ``patches`` and ``replacements``. Every
other field is refused by name and line, rather than to compose something else than kustomize would build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packyard.errors import InputError, Problem, suggest
from packyard.options.folder import KUSTOMIZATIONS
from packyard.setters.krmfile import NAME as KRMFILE
from packyard.source import generator, replacement, selector
from packyard.source.fields import Fields
from packyard.source.generator import Generated
from packyard.source.replacement import Replacement
from packyard.work import reads
from packyard.yaml import aliases
from packyard.yaml.document import decode
from packyard.yaml.node import Comment, Document, MappingNode, Node, Scalar, Source

HEADERS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}
KUSTOMIZATION = "kustomization.yaml"
_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


#: How many kustomizations a use case may be made of, and how deep they may build on each other.
MAX_PARTS, MAX_DEPTH = 500, 32

#: A Krmfile's name and bytes.
Krmfile = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry of ``patches``: what it does, and the objects that it is for (None: the one that it names itself).

    ``entry`` is where it is listed, ``file`` the file that it names, if it does.
    """

    document: Document
    target: Mapping[str, str] | None
    entry: Node
    file: Path | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The file of the patch, and what it selects."""
        return self.document.source.name, ", ".join(f"{key} {text!r}" for key, text in (self.target or {}).items())

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the patch as a whole, by where it begins."""
        root = self.document.root
        line = root.source.locate(root.start)[0] if root else 0
        return Problem(message, file=self.document.source.name, line=line, hint=hint)


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization: a base, an overlay, or what a use case adds itself; ``head`` is how it begins, in comments."""

    folder: Path
    files: tuple[Path, ...] = ()  # its own resources
    resources: tuple[Part, ...] = ()
    components: tuple[Part, ...] = ()
    generated: tuple[Generated, ...] = ()
    patches: tuple[Patch, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    krmfile: Krmfile | None = None
    head: tuple[Comment, ...] = ()
    size: int = 1  # parts that it is made of, each as often as it is named

    def krmfiles(self) -> Iterator[Krmfile]:
        """Yield the Krmfiles of everything that this is made of, in the order of composition."""
        for part in (*self.resources, *self.components):
            yield from part.krmfiles()
        if self.krmfile:
            yield self.krmfile

    def own_files(self) -> set[Path]:
        """Return the files in its folder that its kustomization names, and those that say what it is."""
        named = {*self.files, *(file for made in self.generated for file in made.files)}
        named |= {patch.file for patch in self.patches if patch.file}
        named |= {each.file for each in self.replacements}
        return named | {self.folder / name for name in (*KUSTOMIZATIONS, KRMFILE)}

    @property
    def description(self) -> str:
        """What the comment that begins its kustomization says."""
        return " ".join(comment.text.removeprefix("#").strip() for comment in self.head)


def read(folder: Path, kind: str, within: tuple[Path, ...] = ()) -> Part:
    """Read a part and all that it builds on, once in a run; ``kind`` is Kustomization or Component."""
    return reads.once(("part", str(folder), kind), lambda: _read(folder, kind, within))


def _read(folder: Path, kind: str, within: tuple[Path, ...]) -> Part:
    folder = folder.resolve()
    within = (*within, folder)
    file = file_of(folder)
    if file is None:
        raise InputError(Problem(f"holds no {KUSTOMIZATION}", file=str(folder)))
    fields = Fields.of_file(file)
    fields.expect_header(HEADERS[kind], kind)
    own: list[Path] = []
    resources: list[Part] = []
    for node in fields.items("resources"):
        path = _path(fields, node, "resources", within)
        if path is not None and path.is_dir():
            resources.append(read(path, "Kustomization", within))
        elif path is not None:
            own.append(path)
    components = [
        read(path, "Component", within)
        for node in fields.items("components")
        if (path := _path(fields, node, "components", within))
    ]
    size = 1 + sum(part.size for part in (*resources, *components))
    if size > MAX_PARTS:
        fields.fault(fields.node, "", f"is made of more than {MAX_PARTS} kustomizations")
    generated = [
        found for node in fields.items("configMapGenerator") if (found := generator.read(fields, node, folder))
    ]
    patches = read_patches(fields, "patches", folder)
    replacements = [each for node in fields.items("replacements") for each in replacement.read(fields, node, folder)]
    fields.done()
    return Part(
        folder,
        tuple(own),
        tuple(resources),
        tuple(components),
        tuple(generated),
        tuple(patches),
        tuple(replacements),
        read_krmfile(folder),
        tuple(fields.node.entries[0].head) if fields.node else (),
        size,
    )


def read_krmfile(folder: Path) -> Krmfile | None:
    """Read the Krmfile of a folder, if there is one."""
    file = folder / KRMFILE
    return (str(file), file.read_bytes()) if file.is_file() else None


def file_of(folder: Path) -> Path | None:
    """Return the kustomization of a folder."""
    return next((folder / name for name in KUSTOMIZATIONS if (folder / name).is_file()), None)


def dashed(kind: str) -> str:
    """Write a kind as files are named for it: ``ConfigMap`` as ``config-map``."""
    return _UPPER.sub("-", kind).lower()


def read_objects(file: Path) -> list[MappingNode]:
    """Read the Kubernetes objects of a resource file; all of them is shared."""
    objects = []
    for document in aliases.read(Source(str(file), decode(file.read_bytes(), str(file))[1])):
        if document.root is None or (isinstance(document.root, Scalar) and not document.root.lexeme):
            continue
        if not isinstance(document.root, MappingNode):
            raise InputError(Problem("holds a document that is no Kubernetes object", file=str(file)))
        objects.append(document.root)
    return objects


def read_patches(parent: Fields, key: str, folder: Path) -> list[Patch]:
    """Read the patches that a kustomization, or a use case of a package, lists: by path or inline, with a target.

    A plain text is a path. Paths lead to files in the folder, or in one beside it that the gate admits.
    """
    return [patch for node in parent.items(key) if (patch := _patch(parent, node, folder, key))]


def _patch(parent: Fields, node: Node, folder: Path, key: str) -> Patch | None:
    if isinstance(node, Scalar):
        return _patch_of_file(parent, node, key, folder, node.value, None)
    fields = Fields(node, parent.file, f"{parent.path}.{key}" if parent.path else key, parent.problems)
    inline, path = fields.text("patch", ""), fields.text("path", "")
    target = selector.read(fields, "target")
    fields.done()
    if bool(inline) == bool(path):
        fields.fault(node, "", "needs either path or patch")
        return None
    if path:
        return _patch_of_file(fields, node, "path", folder, path, target)
    line = node.source.locate(node.start)[0]
    return Patch(_one(Source(f"{fields.file} (patch in line {line})", inline)), target, node)


def _patch_of_file(
    fields: Fields, node: Node, key: str, folder: Path, path: str, target: Mapping[str, str] | None
) -> Patch | None:
    file = folder / path
    if not fields.reach(node, key, path, file):
        return None
    if not file.is_file():
        beside = file.parent.glob("*") if file.parent.is_dir() else ()
        fields.fault(node, key, f"no file {path!r}", suggest(path, [os.path.relpath(each, folder) for each in beside]))
        return None
    return Patch(_one(Source(str(file), decode(file.read_bytes(), str(file))[1])), target, node, file.resolve())


def _one(source: Source) -> Document:
    documents = [document for document in aliases.read(source) if document.root is not None]
    if len(documents) != 1:
        raise InputError(Problem("a patch has to be one document", file=source.name))
    return documents[0]


def _path(fields: Fields, node: Node, key: str, within: tuple[Path, ...]) -> Path | None:
    path = within[-1] / node.value if isinstance(node, Scalar) else None
    if isinstance(node, Scalar) and path is not None and not fields.reach(node, key, node.value, path):
        return None
    if path is None or not path.exists():
        what = repr(node.value) if isinstance(node, Scalar) else "this"
        fields.fault(node, key, f"{what} is neither a file nor a folder here")
        return None
    path = path.resolve()
    if len(within) >= MAX_DEPTH:
        fields.fault(node, key, f"kustomizations build on each other more than {MAX_DEPTH} deep")
        return None
    if path in within:
        circle = " -> ".join(folder.name for folder in (*within[within.index(path) :], path))
        fields.fault(node, key, f"kustomizations build on each other in a circle: {circle}")
        return None
    return path
