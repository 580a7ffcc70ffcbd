"""What is imported, as the parts that a use case is made of: bases, and components as overlays.

    environments/dev/kustomization.yaml        bases/NAME-dev/kustomization.yaml
      resources: [../../base]            ->      resources: [../NAME-base]
      components: [../../simulator]              components: [../../overlays/programs/NAME-simulator]
      patches: [{path: patch.yaml}]              patches: [{path: patch.yaml}]

What a part may not say of a kustomization is left out, and patches of the use case make what its parts compose what
kustomize builds. Where parts do not compose at all, what kustomize builds is the part. Manifests without a
kustomization are one part. Files stay as they are, but for edits at the fields that are bound.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath
from posixpath import basename, commonpath, dirname, join, normpath, relpath
from typing import NamedTuple

from packyard.core.errors import InputError, Problem, every
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.core.kubernetes.kinds import is_local
from packyard.core.yaml import make, proof
from packyard.core.yaml.document import entries, source_of, walk
from packyard.core.yaml.edit import Edit, exchange
from packyard.core.yaml.node import Document, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.span import embedded
from packyard.core.yaml.values import double_quoted, flag, is_null
from packyard.using.kustomize import generator, selector
from packyard.using.setters.krmfile import KRMFILE, parse_krmfile
from packyard.using.setters.packages import DEFINITIONS, KPTFILE
from packyard.writing.authoring.import_ import use_cases
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.authoring.import_.part import BUILT, GENERATED, Part, documents, listing, plain
from packyard.writing.authoring.import_.use_cases import holds, kustomizations, visible
from packyard.writing.source import transformers

#: Builds a folder as kustomize does: YAML.
Build = Callable[[Path], bytes]
_Known = Mapping[str, "Mapping[str, None] | None"]

_AS_BUILT = "kustomizations that packyard does not compose, taken as kustomize builds them"
_ODD = (
    "files that hold more than objects",
    "give each of their documents apiVersion, kind and metadata.name, and import again, or do without",
)
_MERGES = "patchesStrategicMerge"
_OF_PATCHES = ("patches", _MERGES, "patchesJson6902")
_DEFAULTS = "generatorOptions"
#: What the items of a part's lists may say, and what is below that.
_KEPT: Mapping[str, _Known] = {
    **dict.fromkeys(_OF_PATCHES, dict.fromkeys(("path", "patch", "target"))),
    "replacements": {"source": None, "path": None, "targets": dict.fromkeys(("select", "fieldPaths"))},
    "labels": {"pairs": None},
    "images": dict.fromkeys(("name", "newName", "newTag", "digest")),
    GENERATED: {**dict.fromkeys(generator.KEYS), "options": dict.fromkeys(generator.OPTIONS)},
}
#: Why an entry of ``images`` is not kept, by what `Part.images` says of its name.
_IMAGES = {True: "which a setter sets", None: "which no container has"}
_INNER = "overlays that are no use cases, as others build on them"
_BESIDE = "for one to deploy, add a kustomization beside the use cases that has it in resources, and import again"


class _BeyondPartError(Exception):
    """A part cannot be made of a kustomization, or of what it says."""


class Built(NamedTuple):
    """What kustomize builds of a folder, which messages call ``shown``; none of its blocks has an indicator."""

    shown: str
    text: bytes
    documents: Sequence[Document]

    def part(self, folder: str, reason: str) -> Part:
        """Return a part that is nothing else, and keeps no comments."""
        todo = f"go on with the objects in {BUILT} of their bases; comments and setters are not in it"
        part = Part(folder, files={BUILT: self.text}, documents={BUILT: [*self.documents]})
        part.listed += [listing(BUILT)] if self.documents else []
        part.notes.append(Note(LOST, _AS_BUILT, todo, (f"{self.shown}: {reason}",)))
        part.bind()
        return part


@dataclass(slots=True)
class UseCase:
    """A use case: one part with all that it builds on, and the objects that are there before the import.

    ``built`` may stand for the part, unless it does. ``values`` are what the use case gives setters.
    """

    path: str
    part: Part
    objects: Sequence[object]
    built: Built | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    is_amended: bool = False

    def mend(self, problems: Sequence[Problem], composed: Sequence[object] | None, values: Mapping[str, str]) -> None:
        """Have values and patches make of what is ``composed`` what kustomize builds, or else that stand for the part.

        Where nothing more can be done, ``problems`` are raised.
        """
        if self.built is None:
            raise InputError(*problems)
        if composed is not None and not self.is_amended:
            self.part.amend(composed, self.built.documents)
            self.values, self.is_amended = values, True
        else:
            reason = str(self.part.original(problems[0])._replace(hint=""))
            self.part, self.built, self.is_amended = self.built.part(self.part.source, reason), None, False


class Upstream:
    """The use cases of a folder, and what they build on; paths begin at the root of the disk."""

    def __init__(self, folder: Path, build: Build) -> None:
        self.sources, self.folder = Sources(Path("/")), os.path.relpath(folder.resolve(), "/")
        self._build = build
        self._taken: dict[tuple[str, str], Part] = {}
        leaves, self._overlays = use_cases.leaves(Sources(Path("/")), self.folder)
        self.folders = leaves or ({self.folder: False} if self._manifests(self.folder) else {})

    def use_case(self, folder: str, path: str) -> UseCase:
        """Take a use case as parts."""
        if not kustomizations(self.sources, folder):
            return self._of_manifests(folder, path)
        built = self._built(folder)
        part = self._again(folder) if self.folders[folder] else self._copy(folder, "Kustomization", is_leaf=True)
        return UseCase(path, part, [*map(plain, built.documents)], built)

    def below(self, notes: Iterable[Note]) -> list[Note]:
        """Return notes with paths as they stand below the folder."""
        top = commonpath([self.folder, *map(dirname, self.sources.inputs)])
        paths = {f"/{self.folder}{end}": "" for end in ("/", ": ")}
        paths.setdefault(f"/{top}/", f"{relpath(top, self.folder)}/")
        return [note.with_paths(paths) for note in notes]

    def left(self) -> Iterator[Note]:
        """Find overlays that are no use cases, and files that are in none nor in what one builds on; of a folder it."""
        yield from (Note(DOUBTFUL, _INNER, _BESIDE, (f"/{folder}",)) for folder in self._overlays)
        read = {*self.sources.inputs, *self._named()}
        above = {folder for path in read for folder in map(str, PurePosixPath(path).parents)}
        todo = "write fragments of the README from what it said, or put it below files/ of the package"
        for path in sorted(visible(self.sources, self.folder, "*")):
            if path not in read:
                folders = map(str, reversed(PurePosixPath(path).parents))
                case = next((f"/{folder}/" for folder in folders if folder not in above), f"/{path}")
                yield Note(LOST, "files beside the use cases", todo, (case,))

    def _named(self) -> Iterator[str]:
        """Yield the files that kustomizations of use cases name, and those of what they build on."""
        folders = [*self.folders]
        for folder in folders:
            for file in kustomizations(self.sources, folder):
                root = use_cases.root(self.sources, file)
                texts = (node.value.rpartition("=")[2] for node in walk(root) if isinstance(node, Scalar))
                yield from (file, *(normpath(join(folder, text)) for text in texts))
                below = dict.fromkeys(normpath(join(folder, node.value)) for node in kustomization.named(root))
                folders += [path for path in below if path not in folders and self.sources.is_folder(path)]

    def _manifests(self, folder: str) -> list[str]:
        """Return the YAML files below a folder; a link may not lead out."""
        files = (file for name in ("*.yaml", "*.yml") for file in sorted(visible(self.sources, folder, name)))
        return [file for file in files if holds(self.folder, self.sources.resolve(file))]

    def _of_manifests(self, folder: str, path: str) -> UseCase:
        """Take all files below a folder that hold objects alone, and are not for functions of kpt alone."""
        part, objects = self._part(folder), list[object]()
        names = self._manifests(folder)
        for name, some in zip(names, every(self.sources.documents, names), strict=True):
            own = [document for document in some if not is_local(document.root)]
            odd = [document.root for document in own if document.root and not _is_object(document.root)]
            if odd:
                part.notes.append(Note(LOST, *_ODD, (odd[0].place,)))
            elif own:
                self._add(part, relpath(name, folder))
                part.listed.append(listing(relpath(name, folder)))
                objects += map(plain, own)
            else:
                self.sources.inputs.pop(name)  # it lies beside the use cases
        part.bind()
        return UseCase(path, part, objects)

    def _take(self, folder: str, kind: str) -> Part:
        """Take a part that others build on, once."""
        if (folder, kind) not in self._taken:
            self._taken[folder, kind] = self._copy(folder, kind)
        return self._taken[folder, kind]

    def _again(self, folder: str) -> Part:
        """Return a part that is nothing but another one, on which others build: what changes it reaches it alone."""
        part = self._take(folder, "Kustomization")
        return Part(folder, resources=[part], kept={"patches": []}, namespace=part.namespace, head=part.head)

    def _built(self, folder: str) -> Built:
        shown = self.sources.shown(folder)
        text = proof.rewrite(self._build(Path("/", folder)), f"{shown} as built", _indicated)
        return Built(shown, text, documents(source_of(text, f"{shown} as built")))

    def _copy(self, folder: str, kind: str, *, is_leaf: bool = False) -> Part:
        file = next(iter(kustomizations(self.sources, folder)))  # which kustomize has built
        root = use_cases.root(self.sources, file)
        assert isinstance(root, MappingNode)
        part = self._part(folder, kind)
        part.head = [*self.sources.documents(file)[0].head, *root.entries[0].head]
        part.namespace = root.text("namespace")
        lists = (*kustomization.LISTED, *_KEPT)
        known = dict.fromkeys((*lists, "apiVersion", "kind", *(["namespace"] if is_leaf else [])))
        beyond = list(_unknown(root, {**known, _DEFAULTS: dict.fromkeys(generator.OPTIONS)}))
        for key in lists:
            for item in _children(root.get(key)):
                try:
                    if key in kustomization.LISTED:
                        self._list(part, key, item)
                    else:
                        self._keep(part, key, item, root.mapping(_DEFAULTS))
                except _BeyondPartError as error:
                    beyond.append((item.value, f"{key}: {error}"))
        lines = ((root.source.locate(node.start)[0], what) for node, what in beyond)
        part.beyond = [f"{self.sources.shown(file)}:{line}: {what}" for line, what in lines]
        part.bind()
        return part

    def _keep(self, part: Part, key: str, item: Item, defaults: MappingNode | None) -> None:
        """Take what a kustomization says of patches and the like by the fields of today, with the files in it."""
        copied = make.like(item, make.clone)
        if key == _MERGES and isinstance(item.value, Scalar):
            copied.value = make.mapping("", {"patch" if "\n" in item.value.value else "path": copied.value})
        value = copied.value
        if key == GENERATED and isinstance(value, MappingNode) and defaults and value.get("options") is None:
            value.entries.append(make.entry("options", make.clone(defaults)))
        unknown = [name for _, name in _unknown(value, _KEPT[key])]
        if key == "images" and (reason := _IMAGES.get(part.images().get(value.text("name")))):
            unknown = [f"{value.text('name')}, {reason}"]
        if not isinstance(value, MappingNode) or unknown or (part.kind == "Component" and key in transformers.KEYS):
            part.renamed += [value.text("newName")] if key == "images" else []
            raise _BeyondPartError(", ".join(unknown) or f"not in a {part.kind}")
        if path := value.scalar("path"):
            self._add(part, path.value)
        if key in _OF_PATCHES and (text := value.scalar("patch")) and (entry := value.entry("patch")):
            part.inline += [(entry, document) for document in documents(embedded(text))]
        for name in (*_children(value.get("files")), *_children(value.get("envs"))):
            called, _, named = name.value.value.rpartition("=") if isinstance(name.value, Scalar) else ("", "", "")
            beside = basename(named)
            self._add(part, named, name=beside)
            if beside != named:
                name.value = make.scalar(f"{called}={beside}" if called else beside, "")
        part.kept.setdefault("patches" if key in _OF_PATCHES else key, []).append(copied)

    def _list(self, part: Part, key: str, item: Item) -> None:
        """Take what a kustomization lists: a part, or a file of objects."""
        text = item.value.value if isinstance(item.value, Scalar) else ""
        path = normpath(join(part.source, text))
        if not text or "://" in text or path.startswith("..") or not self.sources.exists(path):
            raise _BeyondPartError(f"it names {text!r} in {key}")
        if not self.sources.is_folder(path):
            self._add(part, text)
            if key == "components" or not all(_is_object(document.root) for document in part.documents[normpath(text)]):
                raise _BeyondPartError(f"{text} holds more than objects")
            part.listed.append(item)
        elif key == "components":
            part.components.append(self._take(path, "Component"))
        else:
            part.resources.append(self._take(path, "Kustomization"))

    def _add(self, part: Part, text: str, *, name: str = "") -> None:
        """Add a file of a part, which lies beside its kustomization or below; one with a ``name`` is not of objects."""
        path = normpath(join(part.source, text))
        if normpath(text).startswith(("..", "/")) or not self.sources.is_file(path):
            raise _BeyondPartError(f"{text} does not lie beside the kustomization")
        data = self.sources.read(path)
        if part.files.setdefault(name or normpath(text), data) != data:
            raise _BeyondPartError(f"{text} is not the only file of its name")
        if not name:
            self.sources.documents(path)  # refuses a key that stands twice
            part.documents[normpath(text)] = documents(self.sources.text(path))

    def _part(self, folder: str, kind: str = "Kustomization") -> Part:
        """Return a part with the nearest definitions above it that are in no workspace; kpt 0.x has a Kptfile."""
        is_file = self.sources.is_file
        above = [folder, *map(str, PurePosixPath(folder).parents)]
        folders = takewhile(lambda folder: not is_file(join(folder, WORKSPACE)), above)
        paths = (join(folder, name) for folder in folders for name in (KRMFILE, KPTFILE))
        files = [self.sources.text(normpath(path)) for path in paths if is_file(path)]
        kptfiles = [file for file in files if basename(file.name) == KPTFILE]
        krmfiles = [file for file in files if file not in kptfiles or DEFINITIONS in file.text.encode()]
        krmfile = parse_krmfile(krmfiles[0]) if krmfiles else None
        return Part(folder, kind, kept={"patches": []}, krmfile=krmfile, kptfile=kptfiles[0] if kptfiles else None)


def _indicated(document: Document) -> Iterator[Edit]:
    """Write blocks that need an indentation indicator, which no part can hold, in quotes."""
    for node in walk(document.root):
        if isinstance(node, Scalar) and node.style in "|>" and node.lexeme[1:2].isdigit():
            yield from exchange(node, double_quoted(node.value), node.value)


def _children(node: Node | None) -> list[Item]:
    return list(node.items) if isinstance(node, SequenceNode) else []


def _unknown(node: Node | None, known: _Known) -> Iterator[tuple[Node, str]]:
    """Yield what a mapping, or those in a list, say beyond what is known; null and false are what nothing means."""
    nodes = [item.value for item in node.items] if isinstance(node, SequenceNode) else [node]
    for entry in (entry for node in nodes for entry in entries(node)):
        below = known.get(entry.name)
        if entry.name not in known and not is_null(entry.value) and flag(entry.value) is not False:
            yield entry.key, entry.name
        elif below:
            yield from ((key, f"{entry.name}.{name}") for key, name in _unknown(entry.value, below))


def _is_object(root: Node | None) -> bool:
    if not isinstance(root, MappingNode) or root.get("items") is not None:
        return False
    version, kind, _, name = selector.identity(root)
    return bool(version and kind and name)
