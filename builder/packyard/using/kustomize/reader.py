"""A kustomization and all that it builds on, from files to a `Part`: what composing and packyard's own build both read.

    resources: [config-map.yaml, ../base]          files of its folder, and folders of other kustomizations
    components: [../../options/queue]              folders of Components
    configMapGenerator: [{name: …, files: […]}]    and literals, with a hash behind the name or without
    configurations: [references.yaml]              where objects name ConfigMaps
    patches:                                       strategic merge or RFC 6902, in a file or in place
    - {path: job.json6902, target: {kind: Job}}

Who derives from `Reader` says what else a kustomization may have. The faults of one are told at once.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath, relpath

from packyard.core.errors import BeyondError, InputError, Problem, refuse, suggest
from packyard.core.kubernetes import kustomization
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import decode, entries, only
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.core.yaml.span import embedded
from packyard.core.yaml.values import is_null, is_plain_text
from packyard.using.kustomize import generator, objects, references, selector
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.references import FieldSpec

#: How many kustomizations a use case may be made of, and how deep they may build on each other.
MAX_PARTS, MAX_DEPTH = 500, 32


class Reader:
    """Reads kustomizations from sources, each once."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def read(self, folder: str, kind: str, within: tuple[str, ...] = ()) -> Part:
        """Read the kustomization of a folder: a Kustomization or a Component, ``within`` the folders of others."""
        return self.sources.once((type(self), folder, kind), lambda: self.part(folder, kind, within))

    def part(self, folder: str, kind: str, within: tuple[str, ...]) -> Part:
        """Read a kustomization anew."""
        sources = self.sources
        folder = sources.resolve(folder)
        within = (*within, folder)
        file = file_of(sources, folder)
        fields = self.begin(file, kind)
        fields.one_of("apiVersion", (kustomization.VERSIONS[kind],), "")
        fields.one_of("kind", (kind,), None if kind == "Component" else "")
        paths = self._paths(fields, "resources", within)
        own = [path for path in paths if not sources.is_folder(path)]
        resources = [self.read(path, "Kustomization", within) for path in paths if path not in own]
        components = [self.read(path, "Component", within) for path in self._paths(fields, "components", within)]
        size = 1 + sum(part.size for part in (*resources, *components))
        if size > MAX_PARTS:
            fields.fault(fields.node, "", f"is made of more than {MAX_PARTS} kustomizations")
        find = partial(self._find, folder)
        generated = [generator.read(fields, node, find) for node in fields.items("configMapGenerator")]
        named = [self.file(fields, node, "configurations", folder) for node in fields.items("configurations")]
        patches = [self.patch(fields, node, file) for node in fields.items("patches")]
        part = Part(
            folder=folder,
            files=tuple(own),
            resources=tuple(resources),
            components=tuple(components),
            generated=tuple(filter(None, generated)),
            configurations=tuple(sources.resolve(path) for path in named if path),
            patches=tuple(filter(None, patches)),
            size=size,
        )
        part = self.end(part, fields, kind)
        refuse(filter(None, map(_flow, part.patches)))
        fields.done()
        return replace(
            part,
            objects=tuple((PurePosixPath(path).stem, root) for path in own for root in self.objects(path)),
            references=tuple(spec for path in part.configurations for spec in self._references(path)),
        )

    def begin(self, file: str, kind: str) -> Fields:  # noqa: ARG002  # for who derives
        """Open a kustomization."""
        return Fields.of_file(self.sources, file)

    def end(self, part: Part, fields: Fields, kind: str) -> Part:  # noqa: ARG002  # for who derives
        """Read what else a kustomization has."""
        return part

    def patch(self, parent: Fields, entry: Node, listing: str) -> Patch | None:
        """Read an entry of ``patches`` of the file ``listing``."""
        fields = Fields(entry, parent.file, ".".join(filter(None, (parent.path, "patches"))), parent.problems)
        text, path = fields.anything("patch"), fields.anything("path")
        target = selector.read(fields, "target")
        fields.done()
        nodes = [node for node in (text, path) if isinstance(node, Scalar) and node.value]
        if len(nodes) != 1 or (text and path):
            fields.fault(entry, "", "needs either path or patch")
        elif nodes[0] is text:
            document = self._document(nodes[0], embedded(nodes[0]))
            return Patch(document, target, entry, listing, entry.source.locate(entry.start)[0])
        elif file := self.file(fields, nodes[0], "path", dirname(listing)):
            return self.patch_file(file, target, nodes[0], entry)
        return None

    def patch_file(self, file: str, target: Mapping[str, str] | None, node: Scalar, entry: Node) -> Patch:
        """Read the file of a patch, which a scalar names."""
        document = self._document(node, self.sources.text(file))
        return Patch(document, target, entry, normpath(file), file=self.sources.resolve(file))

    def objects(self, path: str) -> list[MappingNode]:
        """Read the objects of a file."""
        return objects.read(self.sources.text(path), self.sources.memo)

    def _document(self, node: Scalar, source: Source) -> Document:
        """Return what a patch does, which stands in a source; ``node`` is its place in the kustomization."""
        documents = [document for document in aliases.read(source, self.sources.memo) if document.root is not None]
        filled = [document for document in documents if document.root and not is_null(document.root)]
        if len(filled) > 1:
            raise BeyondError(node.problem("packyard reads one patch in an entry", "give each of them an entry"))
        root = only(filled, source.name).root
        assert root is not None
        if isinstance(root, SequenceNode) and root is not documents[0].root:  # where alone kustomize looks for them
            raise InputError(root.problem("operations must be in the first document, or kustomize passes them over"))
        strict.to_value(root)  # which refuses what kustomize would read otherwise
        return filled[0]

    def file(self, fields: Fields, node: Node, key: str, folder: str, name: str = "") -> str | None:
        """Return the file that a scalar (or a ``name`` in it) says from a folder, or note why there is none."""
        return fields.find_file(node, key, folder, self.sources, name)

    def _find(self, folder: str, fields: Fields, node: Scalar, name: str) -> Source | None:
        """Find a file of a generator."""
        file = self.file(fields, node, "files", folder, name)
        if file is None or fields.problems:
            return None
        shown = self.sources.shown(file)
        try:
            return Source(shown, "".join(decode(self.sources.read(file), shown)))
        except InputError as error:
            raise BeyondError(*error.hinted("of what is no text, kustomize alone makes binaryData").problems) from error

    def _references(self, file: str) -> Iterator[FieldSpec]:
        root = only(self.sources.documents(file), self.sources.shown(file)).root
        for entry in entries(root):
            if entry.name != "nameReference":
                raise BeyondError(entry.key.problem(f"packyard reads nameReference here, not {entry.name}"))
        yield from references.read(root) if root else ()

    def _paths(self, fields: Fields, key: str, within: tuple[str, ...]) -> list[str]:
        """Return the files and folders that a kustomization lists, and note what it cannot be made of."""
        sources, folder = self.sources, within[-1]
        paths: dict[str, Node] = {}
        for node in fields.items(key):
            text = node.value if isinstance(node, Scalar) and is_text(node) else ""
            path = join(folder, text)
            if text and not fields.reach(node, key, text, path, sources):
                continue
            if not text or not sources.exists(path):
                is_library = text and normpath(path).startswith(f"{LIBRARIES}/")
                lacks = f"{LIBRARIES} of packyard.yaml names no such library, or it has no such part"
                beside = [relpath(name, folder) for name in sources.list(dirname(path))] if text else []
                hint = lacks if is_library else suggest(text, beside)
                fields.fault(node, key, f"{repr(text) if text else 'this'} is neither a file nor a folder here", hint)
            elif (real := sources.resolve(path)) in within:
                circle = " -> ".join(basename(name) for name in (*within[within.index(real) :], real))
                fields.fault(node, key, f"kustomizations build on each other in a circle: {circle}")
            elif len(within) >= MAX_DEPTH:
                fields.fault(node, key, f"kustomizations build on each other more than {MAX_DEPTH} deep")
            elif real in paths:
                line = paths[real].source.locate(paths[real].start)[0]
                fields.fault(node, key, f"{text!r} is listed twice, first in line {line}", "take one of the lines out")
            elif sources.is_folder(path) or self.file(fields, node, key, folder):
                paths[real] = node
        return [*paths]


def file_of(sources: Sources, folder: str) -> str:
    """Return the kustomization of a folder."""
    hint = "write one that lists its files under resources:, or remove the folder"
    name = kustomization.find(sources.shown(folder), lambda name: sources.is_file(join(folder, name)), hint=hint)
    return join(folder, name)


def _flow(patch: Patch) -> Problem | None:
    """Return what is wrong with a patch that kustomize takes for JSON."""
    text = patch.document.source.text
    text = text if patch.file else text.lstrip()
    try:
        json.loads(text if text.startswith("[") else "0")
    except (ValueError, RecursionError):
        return patch.entry.problem("a patch that begins with [ must be JSON", "write an operation a line")
    return None


def is_text(node: Node) -> bool:
    """Say whether a node is text to kustomize."""
    return isinstance(node, Scalar) and (node.style != "plain" or is_plain_text(node.value))
