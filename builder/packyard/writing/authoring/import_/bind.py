"""The objects of documents, with the comments that bind their fields, and the words that these reach.

A comment that cannot mean what it says is left out and noted: one that names nothing, one where nothing is bound. One
that yields another text than its field has is a question of which text counts (`disagreement`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from packyard.core.errors import Problem, refuse
from packyard.core.yaml import aliases, make
from packyard.core.yaml.node import Document, MappingNode, Source
from packyard.using.kustomize import selector
from packyard.using.setters import comment, fields
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import Binding
from packyard.using.setters.kpt import tagged
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring.import_ import disagreement, kpt, meaning, normal
from packyard.writing.authoring.import_.disagreement import FIELDS
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.normal import Bound
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.authoring.import_.placeholders import Placeholders


def documents(source: Source) -> list[Document]:
    """Return the documents of a text that are not empty, with aliases followed."""
    return [each for each in aliases.read(source) if each.root is not None]


@dataclass(slots=True)
class Binder:
    """Binds the fields of documents to words; what it meets is noted. ``take`` says which of two values counts.

    ``unused`` are setters that no use case has, as patches replace their fields: these stay as they are.
    """

    notes: list[Note]
    placeholders: Placeholders = field(default_factory=Placeholders)
    take: str = FIELDS
    unused: frozenset[str] = frozenset()
    words: dict[str, Word] = field(default_factory=dict)  # that fields need
    defined: dict[str, bool] = field(default_factory=dict)  # whether a field needs what a file defines, by its place

    def bind(
        self, documents: Sequence[Document], krmfile: Krmfile | None, *, can_name: bool = False
    ) -> tuple[tuple[MappingNode, ...], dict[str, Word]]:
        """Return objects as we write them, and the words that their comments reach; what binds nothing is left out."""
        bound, words = self.find(documents, krmfile)
        return tuple(objects(documents, bound, self.notes if can_name else None)), words

    def find(self, documents: Sequence[Document], krmfile: Krmfile | None) -> tuple[Bound, dict[str, Word]]:
        """Return what is bound in documents, and the words that are needed for it."""
        words = meaning.read(krmfile, self.notes) if krmfile else {}
        bound = self._of_krmfile(documents, krmfile.definitions, words) if krmfile else Bound()
        of_kpt = kpt.read(documents, self.notes)
        bound.names |= of_kpt.bound
        self.placeholders.bind(documents, bound)
        all_words = {**self.placeholders.words, **words, **of_kpt.words}
        for node, name in [*bound.names.items()]:
            if not self.unused.isdisjoint(meaning.reached([name], all_words)):
                del bound.names[node]
                bound.instead.pop(node, None)
        needed = meaning.reached(bound.names.values(), all_words)
        self.words |= needed
        if krmfile:
            places = {name: f"{krmfile.source.name}: {name}" for name in words}
            self.defined |= {at: self.defined.get(at, False) or name in needed for name, at in places.items()}
            self.notes += _rules(krmfile)
            setters = (krmfile.definitions.setters[name] for name in needed if name in krmfile.definitions.setters)
            self.notes += [note for setter in setters for note in meaning.review(setter)]
        return bound, needed

    def review(self) -> Iterator[Note]:
        """Say what no field needs, and what became of placeholders, once all is bound."""
        for place in sorted(place for place, is_needed in self.defined.items() if not is_needed):
            yield Note(LOST, "definitions that no field uses", "bind the fields that they were meant for", (place,))
        yield from self.placeholders.review(self.words)

    def _of_krmfile(self, documents: Sequence[Document], definitions: Definitions, words: dict[str, Word]) -> Bound:
        """Bind what comments bind; where a field has another text than its definition yields, one of them counts."""
        bound = Bound()
        bindings = [(document, each) for document in documents for each in fields.find(document)]
        faults = {id(each): _fault(each, definitions, words) for _, each in bindings}
        sound = [each for _, each in bindings if faults[id(each)] is None]
        self.notes += disagreement.settle(sound, definitions, words, bound, self.take)
        for document in documents:
            own = [each for of, each in bindings if of is document]
            bound_comments = {each.comment.start for each in own if faults[id(each)] is None}
            by_comment: dict[int, Note] = {}  # a comment may stand for a list and for its items
            for each in own:
                if (fault := faults[id(each)]) and each.comment.start not in bound_comments:
                    by_comment.setdefault(each.comment.start, fault)
            self.notes += by_comment.values()
        return bound


def _rules(krmfile: Krmfile) -> list[Note]:
    todo, file = "write them into the Krmfile of the package", krmfile.source.name
    return [] if krmfile.root.get("rules") is None else [Note(LOST, "rules between setters", todo, (file,))]


def objects(documents: Sequence[Document], bound: Bound, notes: list[Note] | None = None) -> list[MappingNode]:
    """Return the objects of documents as we write them, with comments that bind their fields.

    With ``notes`` those without a name get one, for the file that they are in or for their kind.
    """
    faults = (fault_of(each, is_named=notes is None) for each in documents)
    refuse([*filter(None, faults), *_twice(documents)])
    names = {selector.identity(each.root)[3] for each in documents if isinstance(each.root, MappingNode)}
    roots: list[MappingNode] = []
    for document in documents:
        assert document.root is not None
        written = normal.write(document.root, bound, is_reference)
        assert isinstance(written, MappingNode)
        if notes is not None and not selector.identity(written)[3]:
            alone = sum(each.source.name == document.source.name for each in documents) == 1
            name = _name(document.source.name, written.text("kind"), names, alone=alone)
            names.add(name)
            call(written, name)
            place = f"{document.root.place}: {written.text('kind')}"
            todo = "choose others, where something asks for these objects"
            notes.append(Note(DOUBTFUL, "objects without a name, which got one", todo, (f"{place} {name}",)))
        roots.append(written)
    return roots


def _twice(documents: Iterable[Document]) -> Iterator[Problem]:
    """Find objects that are there already."""
    by_identity: dict[selector.Identity, Document] = {}
    for document in documents:
        key = selector.identity(document.root) if isinstance(document.root, MappingNode) else ("", "", "", "")
        if not all((key[0], key[1], key[3])):
            continue
        first = by_identity.setdefault(key, document)
        if first is not document and document.root is not None and first.root is not None:
            message = f"{key[1]} {key[3]!r} is defined twice, in {first.root.place} too"
            hint = "take one of the files: --only PATH; or make one an option: --option PATH"
            yield document.root.problem(message, hint)


def fault_of(document: Document, *, is_named: bool) -> Problem | None:
    """Say why a document is no object."""
    root = document.root
    version, kind, _, name = selector.identity(root) if isinstance(root, MappingNode) else ("", "", "", "")
    if version and kind and (name or not is_named):
        return None
    place = root.source.locate(root.start)[0] if root else 1
    needed = "apiVersion, kind and metadata.name" if is_named else "apiVersion and kind"
    hint = "" if is_named else "name the files and folders that hold objects: --only PATH"
    return Problem(f"is not a Kubernetes object: {needed} are needed", file=document.source.name, line=place, hint=hint)


def _name(file: str, kind: str, taken: Collection[str], *, alone: bool) -> str:
    """Name an object for its file if it is alone there, or for its kind."""
    stem = PurePosixPath(file).stem if alone else kind
    stem = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "object"
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)


def call(root: MappingNode, name: str) -> None:
    """Give an object a name, in place of what generates one."""
    metadata = root.mapping("metadata")
    if metadata is None:
        metadata = make.mapping("", {})
        root.children = [each for each in root.entries if each.name != "metadata"]
        place = 1 + max(number for number, each in enumerate(root.entries) if each.name in ("apiVersion", "kind"))
        root.entries.insert(place, make.entry("metadata", metadata))
    others = [each for each in metadata.entries if each.name not in ("name", "generateName")]
    metadata.children = [make.entry("name", make.scalar(name, "")), *others]


def is_reference(text: str) -> bool:
    """Say whether a comment binds a field, as kustomize or kpt write it."""
    return comment.parse(text) is not None or tagged.parse(text) is not None


def _fault(binding: Binding, definitions: Definitions, words: Mapping[str, Word]) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    name, node = binding.reference.name, binding.node
    place = f"{node.place}: {fields.path_text(binding.path)}: {name}"
    definition = definitions.resolve(binding.reference)
    if definition is None:
        what = "setter comments with names that nothing defines"
        return Note(LOST, what, "define the name, and bind the field", (place,))
    if not fields.sets(definition, node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (place,))
    missing = [each for found in meaning.reached([name], words).values() for each in found.names if each not in words]
    if name not in words or missing:
        return Note(LOST, "substitutions that lead to nothing", "write the pattern anew, and bind the field", (place,))
    return None
