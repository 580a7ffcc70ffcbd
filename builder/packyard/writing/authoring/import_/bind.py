"""The comments that bind fields as setter comments of ours, by edits, and the definitions that these reach.

A comment that cannot mean what it says is taken out and noted: one that names nothing, one where nothing is bound.
A setter whose value none of its fields has gets what the first of them has, since the fields count:

    tag: 1.23 # {"$openapi":"TAG"}          TAG: "1.28" in its definition, which becomes 1.23

A field that has another text than its comment yields then is bound no more, and noted.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.document import scalars, walk
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Document, Scalar
from packyard.using.setters import fields
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import Binding
from packyard.using.setters.kpt.tags import Pattern
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring import place
from packyard.writing.authoring.import_ import kpt, meaning
from packyard.writing.authoring.import_.meaning import Definition
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


def bind(
    documents: Sequence[Document], krmfile: Krmfile | None, notes: list[Note]
) -> tuple[list[list[Edit]], dict[str, Definition]]:
    """Return the edits of each document, and the definitions that its comments reach; what it meets is noted."""
    edits: list[list[Edit]] = [[] for _ in documents]
    known, bound = kpt.read(documents, edits, notes)
    notes += [note for document in documents for note in _placeholders(document)]
    own = meaning.read(krmfile, notes) if krmfile else Definitions()
    bindings = [(number, item) for number, document in enumerate(documents) for item in fields.find(document)]
    faults = [_fault(binding, own) for _, binding in bindings]
    own = _settled([bindings[index][1] for index, fault in enumerate(faults) if fault is None], own, notes)
    staying, out = set[tuple[int, int]](), dict[tuple[int, int], tuple[Binding, Note]]()
    for (number, binding), fault in zip(bindings, faults, strict=True):
        place_of_comment = number, binding.comment.start
        if fault is None and (case := _case(binding, own)):
            fault = Note(DOUBTFUL, *_TORN, (case,))
        if fault:
            out[place_of_comment] = binding, fault
        else:
            staying.add(place_of_comment)
            bound.append(binding.reference.name)
    for (number, start), (binding, fault) in out.items():
        if (number, start) not in staying:
            edits[number].append(place.take_out(documents[number].source, binding.comment))
            notes.append(fault)
    known = Definitions({**known.setters, **own.setters}, {**known.substitutions, **own.substitutions})
    return edits, meaning.reachable(bound, known)


def left(krmfile: Krmfile, used: Collection[str]) -> Iterator[Note]:
    """Name what a Krmfile has, and no field needs."""
    file, known = krmfile.source.name, krmfile.definitions
    unused = tuple(f"{file}: {name}" for name in sorted({*known.setters, *known.substitutions} - {*used}))
    if unused:
        yield Note(LOST, *_UNUSED, unused)
    if krmfile.root.get("rules") is not None:
        yield Note(LOST, "rules between setters", "write them into the Krmfile of the package", (file,))


def _placeholders(document: Document) -> Iterator[Note]:
    """Name the texts that something else may have filled in."""
    for node in walk(document.root):
        if isinstance(node, Scalar) and node.style not in "|>" and _PLACEHOLDER.search(node.value):
            yield Note(DOUBTFUL, *_UNFILLED, (f"{node.place}: {node.value}",))


def _settled(sound: Sequence[Binding], known: Definitions, notes: list[Note]) -> Definitions:
    """Give each setter whose value no field has that of the first field that says one, of one that it alone fills."""
    shown: dict[str, dict[str, Binding]] = {}
    for binding in sorted(sound, key=lambda binding: isinstance(known.resolve(binding.reference), Substitution)):
        definition = known.resolve(binding.reference)
        assert definition
        values = {name: known.setters[name].value for name in known.setters_of(definition)}
        if _case(binding, known) and isinstance(binding.node, Scalar):
            values = Pattern(meaning.flat(definition, known)).derive(binding.node.value, empty=True)
        for name, value in values.items():
            shown.setdefault(name, {}).setdefault(value, binding)
    changed: dict[str, Setter] = {}
    for name, by_value in shown.items():
        setter, value = known.setters[name], next(iter(by_value))
        if setter.value not in by_value and not setter.is_list and not setter.enum_values:
            notes.append(Note(DOUBTFUL, *_DRIFTED, (_case(by_value[value], known),)))
            changed[name] = setter._replace(value=value, required=setter.required and not value)
    return known.with_setters(changed)


def _fault(binding: Binding, known: Definitions) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    at = f"{binding.node.place}: {fields.path_text(binding.path)}: {binding.reference.name}"
    definition = known.resolve(binding.reference)
    if definition is None:
        what = "setter comments with names that nothing defines"
        return Note(LOST, what, "define the name, and bind the field", (at,))
    if not fields.sets(definition, binding.node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (at,))
    try:
        meaning.texts(definition, known)
    except InputError:
        return Note(LOST, *meaning.TO_NOTHING, (at,))
    return None


def _case(binding: Binding, known: Definitions) -> str:
    """Say what a comment yields, and what its field has instead; nothing where that is the same."""
    definition, node = known.resolve(binding.reference), binding.node
    assert definition
    shows = [node.value] if isinstance(node, Scalar) else [item.value for item in scalars(node)]
    yields = meaning.texts(definition, known)
    result, shown = ", ".join(yields), ", ".join(shows)
    at = f"{node.place}: {fields.path_text(binding.path)}: {definition.name}"
    return f"{at} yields {result!r}, not {shown!r}" if yields != shows else ""
