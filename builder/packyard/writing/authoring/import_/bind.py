"""The objects of documents, with the comments that bind their fields, and the words that these reach.

A comment that cannot mean what it says is left out and noted: one that names nothing, one where nothing is bound. One
that yields another text than its field has is a question of which text counts (`drift`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError, Problem
from packyard.core.yaml import aliases
from packyard.core.yaml.node import Document, MappingNode, Source
from packyard.using.kustomize import selector
from packyard.using.setters import comment, fields
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import Binding
from packyard.using.setters.kpt import tagged
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring.import_ import drift, kpt, meaning, normal
from packyard.writing.authoring.import_.drift import FIELDS
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.normal import Bound
from packyard.writing.authoring.import_.note import LOST, Note
from packyard.writing.authoring.import_.placeholders import Placeholders


def documents(source: Source) -> list[Document]:
    """Return the documents of a text that are not empty, with aliases followed."""
    return [each for each in aliases.read(source) if each.root is not None]


@dataclass(slots=True)
class Binder:
    """Binds the fields of documents to words; what it meets is noted. ``take`` says which of two values counts."""

    notes: list[Note]
    placeholders: Placeholders = field(default_factory=Placeholders)
    take: str = FIELDS

    def bind(
        self, documents: Sequence[Document], krmfile: Krmfile | None
    ) -> tuple[tuple[MappingNode, ...], dict[str, Word]]:
        """Return objects as we write them, and the words that their comments reach; what binds nothing is left out."""
        bound, words = self.find(documents, krmfile)
        return tuple(objects(documents, bound)), words

    def find(self, documents: Sequence[Document], krmfile: Krmfile | None) -> tuple[Bound, dict[str, Word]]:
        """Return what is bound in documents, and the words that are needed for it."""
        words = meaning.read(krmfile, self.notes) if krmfile else {}
        bound = self._of_krmfile(documents, krmfile.definitions, words) if krmfile else Bound()
        of_kpt = kpt.read(documents, self.notes)
        bound.names |= of_kpt.bound
        self.placeholders.bind(documents, bound)
        known = {**self.placeholders.words, **words, **of_kpt.words}
        needed = meaning.reached(bound.names.values(), known)
        if krmfile:
            self.notes += _unused(krmfile, words.keys() - needed.keys())
            setters = (krmfile.definitions.setters[name] for name in needed if name in krmfile.definitions.setters)
            self.notes += [note for setter in setters for note in meaning.review(setter)]
        return bound, needed

    def _of_krmfile(self, documents: Sequence[Document], definitions: Definitions, words: dict[str, Word]) -> Bound:
        """Bind what comments bind; where a field has another text than its definition yields, one of them counts."""
        bound = Bound()
        bindings = [(document, each) for document in documents for each in fields.find(document)]
        faults = {id(each): _fault(each, definitions, words) for _, each in bindings}
        sound = [each for _, each in bindings if faults[id(each)] is None]
        self.notes += drift.settle(sound, definitions, words, bound, self.take)
        for document in documents:
            own = [each for of, each in bindings if of is document]
            kept = {each.comment.start for each in own if faults[id(each)] is None}
            found: dict[int, Note] = {}  # a comment may stand for a list and for its items
            for each in own:
                if (fault := faults[id(each)]) and each.comment.start not in kept:
                    found.setdefault(each.comment.start, fault)
            self.notes += found.values()
        return bound


def _unused(krmfile: Krmfile, names: Iterable[str]) -> Iterable[Note]:
    file = krmfile.source.name
    for name in sorted(names):
        todo = "bind the fields that they were meant for"
        yield Note(LOST, "definitions that no field uses", todo, (f"{file}: {name}",))
    if krmfile.root.get("rules") is not None:
        yield Note(LOST, "rules between setters", "write them into the Krmfile of the package", (file,))


def objects(documents: Iterable[Document], bound: Bound) -> Iterable[MappingNode]:
    """Yield the objects of documents as we write them, with comments that bind their fields."""
    for document in documents:
        root = document.root
        version, kind, _, name = selector.identity(root) if isinstance(root, MappingNode) else ("", "", "", "")
        if not isinstance(root, MappingNode) or not (version and kind and name):
            place = root.source.locate(root.start)[0] if root else 1
            message = "is not a Kubernetes object: apiVersion, kind and metadata.name are needed"
            raise InputError(Problem(message, file=document.source.name, line=place))
        written = normal.write(root, bound, is_reference)
        assert isinstance(written, MappingNode)
        yield written


def is_reference(text: str) -> bool:
    """Say whether a comment binds a field, as kustomize or kpt write it."""
    return comment.parse(text) is not None or tagged.parse(text) is not None


def _fault(binding: Binding, definitions: Definitions, words: Mapping[str, Word]) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    name, node = binding.reference.name, binding.node
    place = f"{node.source.name}:{node.source.locate(node.start)[0]}: {fields.path_text(binding.path)}: {name}"
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
