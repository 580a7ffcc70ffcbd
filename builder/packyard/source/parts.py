"""Bases and overlays on disk: their kustomization.yaml, its resources, components and patches, and their Krmfile.

The composer understands ``resources``, ``components``, ``configMapGenerator`` and ``patches``, and ``podPatches`` of
its own (see `packyard.source.pods`). Every other field is refused by name and line, rather than to compose something
else than kustomize would build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packyard.errors import InputError, Problem
from packyard.source import generator
from packyard.source.fields import Fields
from packyard.source.generator import Generated
from packyard.source.patch import Working
from packyard.source.selector import WORDS, fault
from packyard.text.document import check_keys, decode, parse_one, parse_shared
from packyard.text.node import Comment, Document, Node, Scalar, Source
from packyard.text.node import Mapping as MappingNode
from packyard.work import reads

HEADERS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}
_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


#: How many kustomizations a use case may be made of, and how deep they may build on each other.
MAX_PARTS, MAX_DEPTH = 500, 32

#: A Krmfile's name and bytes.
Krmfile = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry of ``patches``: what it does, and the objects that it is for (None: the one that it names itself).

    One of ``podPatches`` has ``pods``: the label selector of the pod templates that it is for, empty for all.
    """

    document: Document
    target: Mapping[str, str] | None
    pods: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The file of the patch, and what it selects."""
        words = {**(self.target or {}), "labelSelector": self.pods or ""}
        return self.document.source.name, ", ".join(f"{key} {text!r}" for key, text in words.items() if text)

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
    krmfile: Krmfile | None = None
    head: tuple[Comment, ...] = ()
    size: int = 1  # parts that it is made of, each as often as it is named

    def krmfiles(self) -> Iterator[Krmfile]:
        """Yield the Krmfiles of everything that this is made of, in the order of composition."""
        for part in (*self.resources, *self.components):
            yield from part.krmfiles()
        if self.krmfile:
            yield self.krmfile


def read(folder: Path, kind: str, within: tuple[Path, ...] = ()) -> Part:
    """Read a part and all that it builds on, once in a run; ``kind`` is Kustomization or Component."""
    return reads.once(("part", str(folder), kind), lambda: _read(folder, kind, within))


def _read(folder: Path, kind: str, within: tuple[Path, ...]) -> Part:
    folder = folder.resolve()
    within = (*within, folder)
    file = file_of(folder)
    if file is None:
        raise InputError(Problem("holds no kustomization.yaml", file=str(folder)))
    document = parse_one(file.read_bytes(), str(file))
    fields = Fields(document.root, str(file), "")
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
        fields.fault(document.root, "", f"is made of more than {MAX_PARTS} kustomizations")
    generated = [
        found for node in fields.items("configMapGenerator") if (found := generator.read(fields, node, folder))
    ]
    patches = [
        patch
        for key in ("podPatches", "patches")
        for node in fields.items(key)
        if (patch := _patch(fields, node, folder, key))
    ]
    fields.done()
    first = document.root.entries[0].head if isinstance(document.root, MappingNode) else []
    return Part(
        folder,
        tuple(own),
        tuple(resources),
        tuple(components),
        tuple(generated),
        tuple(patches),
        read_krmfile(folder),
        (*document.head, *first),
        size,
    )


def read_krmfile(folder: Path) -> Krmfile | None:
    """Read the Krmfile of a folder, if there is one."""
    file = folder / "Krmfile"
    return (str(file), file.read_bytes()) if file.is_file() else None


def file_of(folder: Path) -> Path | None:
    """Return the kustomization of a folder."""
    return next((folder / name for name in _NAMES if (folder / name).is_file()), None)


def dashed(kind: str) -> str:
    """Write a kind as files are named for it: ``ConfigMap`` as ``config-map``."""
    return _UPPER.sub("-", kind).lower()


def read_patch(file: Path, target: Mapping[str, str] | None, pods: str | None = None) -> Patch:
    """Read a patch file: a strategic merge (a mapping), or RFC 6902 (a list of operations)."""
    return Patch(parse_one(file.read_bytes(), str(file)), target, pods)


def read_selector(fields: Fields, *, pods: bool = False) -> tuple[dict[str, str] | None, str | None]:
    """Read ``target``: the objects that a patch is for, each word a regular expression for the whole text.

    The ``labelSelector`` of a pod patch, returned beside it, chooses among the pod templates of those objects.
    """
    target = fields.child("target")
    labels = target.text("labelSelector", "") if target and pods else ""
    selector = {key: text for key in WORDS if (text := target.text(key, ""))} if target else None
    if target:
        for key, pattern in (selector or {}).items():
            if wrong := fault(pattern):
                target.fault(target.node and target.node.get(key), key, wrong)
        target.done()
    return ({}, labels) if pods and selector is None else (selector, labels if pods else None)


def read_objects(file: Path) -> list[MappingNode]:
    """Read the Kubernetes objects of a resource file; what is below their roots is shared."""
    objects = []
    for document in parse_shared(Source(str(file), decode(file.read_bytes(), str(file))[1])):
        if document.root is None or (isinstance(document.root, Scalar) and not document.root.lexeme):
            continue
        check_keys(document)
        if not isinstance(document.root, MappingNode):
            raise InputError(Problem("holds a document that is no Kubernetes object", file=str(file)))
        root = Working().of(document.root)
        assert isinstance(root, MappingNode)
        if document.head and root.entries:
            root.entries[0].head[:0] = document.head
        objects.append(root)
    return objects


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


def _patch(parent: Fields, node: Node, folder: Path, key: str) -> Patch | None:
    fields = Fields(node, parent.file, key, parent.problems)
    inline, path = fields.text("patch", ""), fields.text("path", "")
    selector, pods = read_selector(fields, pods=key == "podPatches")
    fields.done()
    if bool(inline) == bool(path):
        fields.fault(node, "", "needs either path or patch")
        return None
    if inline:
        return Patch(_inline(fields, inline), selector, pods)
    file = folder / path
    if not fields.reach(node, "path", path, file):
        return None
    if not file.is_file():
        fields.fault(node, "path", f"no file {path!r}")
        return None
    return read_patch(file, selector, pods)


def _inline(fields: Fields, text: str) -> Document:
    node = fields.node.get("patch") if fields.node else None
    line = node.source.locate(node.start)[0] if node else 0
    source = Source(f"{fields.file} (patch in line {line})", text)
    documents = [document for document in parse_shared(source) if document.root is not None]
    if len(documents) != 1:
        raise InputError(Problem("a patch has to be one document", file=source.name))
    check_keys(documents[0])
    return documents[0]
