"""The comments that bind fields as setter comments of ours, by edits, and the definitions that these reach.

A comment that cannot mean what it says is taken out and noted: one that names nothing, one where nothing is bound.
A setter whose value none of its fields has gets what the first of them has, since the fields count:

    tag: 1.23 # {"$openapi":"TAG"}          TAG: "1.28" in its definition, which becomes 1.23

A field that has another text than its comment yields then is bound no more, and noted.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.document import items, walk
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Document, Scalar, SequenceNode
from packyard.using.setters import comment, fields
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.kpt.tags import Pattern
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring import place
from packyard.writing.authoring.import_ import kpt, meaning
from packyard.writing.authoring.import_.kpt import Bound
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
    tagged, bound = kpt.read(documents)
    own = meaning.read(krmfile, notes) if krmfile else Definitions()
    known = Definitions({**tagged.setters, **own.setters}, {**tagged.substitutions, **own.substitutions})
    bound += [Bound(at, *item[:4]) for at, document in enumerate(documents) for item in fields.find(document.root)]
    notes += [note for document in documents for note in _placeholders(document)]
    faults = [_fault(item, known) for item in bound]
    known = _settled([item for item, fault in zip(bound, faults, strict=True) if fault is None], known, notes)
    staying, out = dict[tuple[int, int], Bound](), dict[tuple[int, int], tuple[Bound, Note]]()
    for item, fault in zip(bound, faults, strict=True):
        if fault is None and (case := _case(item, known)):
            fault = Note(DOUBTFUL, *_TORN, (case,))
        if fault:
            out[item.number, item.comment.start] = item, fault
        else:
            staying[item.number, item.comment.start] = item
    for place_of_comment, (item, fault) in out.items():
        if place_of_comment not in staying:
            edits[item.number].append(place.take_out(item.node.source, item.comment))
            notes.append(fault)
    names: dict[str, str] = {}  # of patterns of kpt
    for item in staying.values():
        name = item.reference.name
        if comment.parse(item.comment.text) is None:
            if name in tagged.substitutions:
                taken = {*known.setters, *known.substitutions, *names.values()}
                names.setdefault(name, meaning.named_for(item.path, taken))
            edits[item.number].append(replace_comment(item.comment, comment.write(names.get(name, name))))
    reached = meaning.reachable((item.reference.name for item in staying.values()), known).values()
    renamed = (definition._replace(name=names.get(definition.name, definition.name)) for definition in reached)
    return edits, {definition.name: definition for definition in renamed}


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


def _settled(sound: Sequence[Bound], known: Definitions, notes: list[Note]) -> Definitions:
    """Give each setter whose value no field has that of the first field that says one, of one that it alone fills."""
    shown: dict[str, dict[str, Bound]] = {}
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


def _fault(binding: Bound, known: Definitions) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    at = f"{binding.node.place}: {fields.path_text(binding.path)}: {binding.reference.name}"
    definition = known.resolve(binding.reference)
    if definition is None:
        what = "setter comments with names that nothing defines"
        return Note(LOST, what, "define the name, and bind the field", (at,))
    is_header = isinstance(binding.node, Scalar) and binding.node.style in "|>" and not binding.comment.own_line
    if is_header or not fields.sets(definition, binding.node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (at,))
    try:
        meaning.texts(definition, known)
    except InputError:
        return Note(LOST, *meaning.TO_NOTHING, (at,))
    return None


def _case(binding: Bound, known: Definitions) -> str:
    """Say what a comment yields, and what its field has instead; nothing where that is the same."""
    definition, node = known.resolve(binding.reference), binding.node
    assert definition
    shown_by = items(node) if isinstance(node, SequenceNode) else [node]
    shows = [item.value if isinstance(item, Scalar) else item.lexeme for item in shown_by]
    yields = meaning.texts(definition, known)
    result, shown = ", ".join(yields), ", ".join(shows)
    at = f"{node.place}: {fields.path_text(binding.path)}: {definition.name}"
    return f"{at} yields {result!r}, not {shown!r}" if yields != shows else ""
