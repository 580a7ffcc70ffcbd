"""A part that an import writes: what it builds on, its files, and what its kustomization says beside.

What no part can say becomes patches behind its own, and what it lacks stands in built.yaml.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from posixpath import relpath

from packyard.core.errors import Problem
from packyard.core.kubernetes import images, kustomization
from packyard.core.yaml import layout, make, proof
from packyard.core.yaml.document import parse_text, walk
from packyard.core.yaml.node import Collection, Comment, Document, Entry, Item, MappingNode, Scalar, Source
from packyard.core.yaml.values import to_value
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring.import_ import difference, kpt
from packyard.writing.authoring.import_.bind import bind
from packyard.writing.authoring.import_.meaning import Definition, names
from packyard.writing.authoring.import_.note import Note
from packyard.writing.source.package import slug

BUILT, GENERATED = "built.yaml", "configMapGenerator"
_BASES, _OVERLAYS = "bases", "overlays/programs"


@dataclass(slots=True)
class Part:
    """A base or a component."""

    source: str
    kind: str = "Kustomization"
    folder: str = ""  # in the workspace, once it is named
    resources: list["Part"] = field(default_factory=list)
    components: list["Part"] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    documents: dict[str, list[Document]] = field(default_factory=dict)
    inline: list[tuple[Entry, Document]] = field(default_factory=list)  # patches in its kustomization
    listed: list[Item] = field(default_factory=list)
    kept: dict[str, list[Item]] = field(default_factory=dict)  # patches and what else its kustomization lists
    beyond: list[str] = field(default_factory=list)  # what its kustomization says and no part can
    renamed: list[str] = field(default_factory=list)  # what that calls images
    namespace: str = ""  # of a use case
    head: Sequence[Comment] = ()
    krmfile: Krmfile | None = None  # its own, or the nearest above it
    kptfile: Source | None = None
    defined: dict[str, Definition] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def all(self) -> Iterator["Part"]:
        """Yield all that it builds on, and the part itself."""
        for part in (*self.resources, *self.components):
            yield from part.all()
        yield self

    def read(self) -> list[Document]:
        """Return what may have bound fields."""
        return [*chain(*self.documents.values()), *(document for _, document in self.inline)]

    def original(self, problem: Problem) -> Problem:
        """Return a problem by what was imported; by the folder alone where the part is written anew."""
        for part in self.all():
            file = problem.file.removeprefix(f"{part.folder}/")
            if file in part.files and file != BUILT:
                return problem._replace(file=f"/{part.source}/{file}")
            if file in (kustomization.FILE, BUILT):
                return problem._replace(file=f"/{part.source}", line=0, column=0)
        return problem

    def images(self) -> dict[str, bool]:
        """Return the names that images may have in the part or below, each with whether no ``images`` can change it.

        That is where a comment binds one, or what renames it became values or patches.
        """
        texts: list[tuple[str, bool]] = []
        for part in self.all():
            nodes = (node for document in part.read() for node in walk(document.root) if isinstance(node, Scalar))
            texts += [(node.value, bool(node.comment and "$" in node.comment.text)) for node in nodes]
            texts += [(item.value.text("newName"), False) for item in part.kept.get("images", ())]
            texts += [(name, True) for name in part.renamed]
        return {images.parse(text).name: is_fixed for text, is_fixed in sorted(texts, key=lambda pair: pair[1])}

    def bind(self) -> None:
        """Write setter comments into its files, and take the definitions that these reach."""
        edits, self.defined = bind(self.read(), self.krmfile, self.notes)
        left = iter(edits)
        for path, documents in self.documents.items():
            own = [edit for _ in documents for edit in next(left)]
            source = documents[0].source if documents else None
            if source and own:
                self.files[path] = proof.apply_to_file(self.files[path], source, own, documents) or self.files[path]
        for entry, document in self.inline:
            if own := next(left):
                entry.value = make.literal(proof.apply_to_text(document.source, own, [document]).lstrip("\n"), "")
        if self.kptfile:
            self.notes += kpt.functions(self.kptfile)

    def amend(self, composed: Sequence[object], built: Sequence[Document]) -> None:
        """Make of ``composed`` the objects that kustomize built."""
        patches, added, generated = difference.find(composed, [*map(plain, built)])
        self.kept["patches"] += patches
        frozen = [root for number in added if isinstance(root := built[number].root, MappingNode)]
        nodes = (node for root in frozen for node in walk(root) if isinstance(node, Collection))
        for child in (child for node in nodes for child in node.children):
            if isinstance(child.value, Scalar) and child.value.value in generated:
                child.value = make.scalar(generated[child.value.value], "")
        if frozen:
            self.files[BUILT] = b"---\n".join(map(layout.write, frozen))
            self.listed.append(listing(BUILT))

    def write(self) -> dict[str, bytes]:
        """Return its files."""
        root = make.mapping("", {"apiVersion": kustomization.VERSIONS[self.kind], "kind": self.kind})
        listed = [listing(relpath(part.folder, self.folder)) for part in self.resources]
        listed += [make.like(item, make.clone) for item in self.listed]
        components = [listing(relpath(part.folder, self.folder)) for part in self.components]
        for key, items in {"resources": listed, "components": components, **self.kept}.items():
            root.entries += [make.entry(key, make.sequence("", items))] if items else []
        return {kustomization.FILE: layout.write(root, head=self.head), **self.files}


def name(parts: Iterable[Part], stem: str) -> None:
    """Give parts folders in a workspace: that of a package, and as much of their own as tells them apart."""
    folders: set[str] = set()
    alone = len(parts := [*parts]) == 1
    for part in parts:
        above = _OVERLAYS if part.kind == "Component" else _BASES
        steps = [step for step in map(slug, part.source.split("/")) if step] or ["base"]
        longer = (f"{stem}-{name}" for name in names(steps, "-"))
        part.folder = next(
            path for name in chain([stem] if alone else [], longer) if (path := f"{above}/{name}") not in folders
        )
        folders.add(part.folder)


def listing(text: str) -> Item:
    """Return an item of a list."""
    return Item(make.scalar(text, ""), 0)


def documents(source: Source) -> list[Document]:
    """Return the documents of a file that hold something."""
    return [document for document in parse_text(source) if document.root is not None]


def plain(document: Document) -> object:
    """Return an object as a plain value, without empty annotations, which kustomize drops."""
    value = to_value(document.root)
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if isinstance(metadata, dict) and not metadata.get("annotations", True):
        del metadata["annotations"]
    return value
