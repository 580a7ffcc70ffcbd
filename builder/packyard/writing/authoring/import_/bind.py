"""The comments that bind fields as setter comments of ours, by edits, and the words that these reach.

A comment that cannot mean what it says is taken out and noted: one that names nothing, one where nothing is bound.
Where a field has another text than its comment yields, the field counts:

    tag: 1.23 # {"$openapi":"TAG"}          TAG: "1.28" in its definition, which becomes 1.23

Where the fields of one setter have several texts, that of most of them is its value. A field that yields another text
still is bound no more, and noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.yaml.document import scalars, walk
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Document, Scalar
from packyard.using.setters import fields
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import Binding
from packyard.using.setters.kpt.tagged import Pattern
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring import place
from packyard.writing.authoring.import_ import kpt, meaning
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note

_PLACEHOLDER = re.compile(r"(?<!\$)\$\{[A-Za-z_]\w*(:?[-=][^{}]*)?\}")
_UNFILLED = (
    "${NAME} in texts of one line, which stay as they are",
    "where envsubst or Flux filled it in, write a value, and bind it to a setter",
)
_UNUSED = ("definitions that no field uses", "bind the fields that they were meant for")
_TORN = (
    "setter comments that yield another text than their field has: setting them changed more than a value",
    "decide which of the two is right, and bind the field again",
)
_DRIFTED = (
    "setters that yield another text than their fields have: what the fields have counts",
    "look whether that is right",
)


@dataclass(slots=True)
class Binder:
    """Binds the fields of documents to words; what it meets is noted."""

    notes: list[Note] = field(default_factory=list)

    def bind(self, documents: Sequence[Document], krmfile: Krmfile | None) -> tuple[list[list[Edit]], dict[str, Word]]:
        """Return the edits of each document, and the words that its comments reach."""
        known = meaning.read(krmfile, self.notes) if krmfile else {}
        edits: list[list[Edit]] = [[] for _ in documents]
        bound: list[str] = []
        if krmfile:
            bound += self._of_krmfile(documents, krmfile.definitions, known, edits)
        of_kpt = kpt.read(documents, self.notes)
        known = {**of_kpt.words, **known}
        for document, own in zip(documents, edits, strict=True):
            for edit, name in of_kpt.edits(document):
                own.append(edit)
                bound.append(name)
            self.notes += _placeholders(document)
        needed = meaning.reached(bound, known)
        if krmfile:
            unused = tuple(
                f"{krmfile.source.name}: {name}" for name in sorted(meaning.read(krmfile, [])) if name not in needed
            )
            self.notes += [Note(LOST, *_UNUSED, unused)] if unused else []
            self.notes += _rules(krmfile)
        return edits, needed

    def _of_krmfile(
        self, documents: Sequence[Document], definitions: Definitions, known: dict[str, Word], edits: list[list[Edit]]
    ) -> list[str]:
        """Take out comments that bind nothing, make the values of setters agree with fields; return what is bound."""
        bindings = [[*fields.find(document)] for document in documents]
        faults = {id(binding): _fault(binding, definitions, known) for some in bindings for binding in some}
        sound = [binding for some in bindings for binding in some if faults[id(binding)] is None]
        drifted = [binding for binding in sound if meaning.expand(binding.reference.name, known) != _texts(binding)]
        cases = {id(binding): _case(binding, known) for binding in drifted}
        _take_fields(sound, drifted, known)
        for binding in sound:
            if meaning.expand(binding.reference.name, known) != _texts(binding):
                faults[id(binding)] = Note(DOUBTFUL, *_TORN, (cases.get(id(binding)) or _case(binding, known),))
            elif id(binding) in cases:
                self.notes.append(Note(DOUBTFUL, *_DRIFTED, (cases[id(binding)],)))
        for document, some, own in zip(documents, bindings, edits, strict=True):
            kept = {binding.comment.start for binding in some if faults[id(binding)] is None}
            out = {binding.comment.start: binding for binding in some if binding.comment.start not in kept}
            own += [place.take_out(document.source, binding.comment) for binding in out.values()]
            self.notes += [fault for binding in out.values() if (fault := faults[id(binding)])]
        return [binding.reference.name for binding in sound if faults[id(binding)] is None]


def _placeholders(document: Document) -> Iterator[Note]:
    """Name the texts that something else may have filled in."""
    for node in walk(document.root):
        if isinstance(node, Scalar) and node.style not in "|>" and _PLACEHOLDER.search(node.value):
            yield Note(DOUBTFUL, *_UNFILLED, (f"{node.place}: {node.value}",))


def _take_fields(sound: Iterable[Binding], drifted: Sequence[Binding], known: dict[str, Word]) -> None:
    """Give setters what most of the fields have that they alone are the text of, then what those of patterns have.

    A setter that some field agrees with keeps its value, unless more such fields have another.
    """
    agreed = [binding.reference.name for binding in sound if binding not in drifted]
    settled = {name: word.value for name, word in meaning.reached(agreed, known).items() if word.is_setter}
    texts = [(binding.reference.name, binding.node.value) for binding in sound if isinstance(binding.node, Scalar)]
    counts = Counter((name, text) for name, text in texts if known[name].is_text)
    for (name, text), number in reversed(counts.most_common()):
        if number > counts[name, known[name].value]:
            known[name] = known[name].valued(text)
        settled[name] = known[name].value
    for name, text in texts:
        derived = {} if known[name].is_setter else Pattern(meaning.flat(name, known)).derive(text)
        if all(settled.get(name, value) == value and known[name].is_text for name, value in derived.items()):
            known.update({name: known[name].valued(value) for name, value in derived.items()})
            settled |= derived


def _texts(binding: Binding) -> list[str]:
    """Return the texts of a field."""
    return [binding.node.value] if isinstance(binding.node, Scalar) else [item.value for item in scalars(binding.node)]


def _case(binding: Binding, known: Mapping[str, Word]) -> str:
    name = binding.reference.name
    yields, shows = (", ".join(texts) for texts in (meaning.expand(name, known), _texts(binding)))
    return f"{binding.node.place}: {fields.path_text(binding.path)}: {name} yields {yields!r}, not {shows!r}"


def _fault(binding: Binding, definitions: Definitions, known: Mapping[str, Word]) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    name, node = binding.reference.name, binding.node
    at = f"{node.place}: {fields.path_text(binding.path)}: {name}"
    definition = definitions.resolve(binding.reference)
    if definition is None:
        what = "setter comments with names that nothing defines"
        return Note(LOST, what, "define the name, and bind the field", (at,))
    if not fields.sets(definition, node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (at,))
    needed = meaning.reached([name], known).values()
    if name not in known or any(inner not in known for word in needed for inner in meaning.names(word)):
        return Note(LOST, "substitutions that lead to nothing", "write the pattern anew, and bind the field", (at,))
    return None


def _rules(krmfile: Krmfile) -> list[Note]:
    todo, file = "write them into the Krmfile of the package", krmfile.source.name
    return [] if krmfile.root.get("rules") is None else [Note(LOST, "rules between setters", todo, (file,))]
