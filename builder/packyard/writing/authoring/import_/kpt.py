"""Comments of kpt as words of ours: a name alone is a setter, a pattern a substitution named for its field.

image: nginx:1.7 # kpt-set: ${image}:${tag}    ->    image: nginx:1.7 # {"$openapi":"IMAGE"}
                                                     IMAGE: "${image}:${tag}", image: nginx, tag: "1.7"

What the fields show is what the setters are worth, as kpt itself derives it, whatever the Kptfile says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.yaml.document import entries, mappings, parse_text, scalars
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Document, MappingNode, Scalar, SequenceNode, Source
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters import comment
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt import kptfile, tagged
from packyard.using.setters.kpt.derived import derive
from packyard.using.setters.kpt.tagged import Tagged
from packyard.writing.authoring.import_.meaning import Word, named_for, typed
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note


@dataclass(slots=True)
class NamedFields:
    """Fields with the names that they are bound to, and what the names stand for."""

    names: dict[int, str] = field(default_factory=dict)  # by the identities of the fields
    words: dict[str, Word] = field(default_factory=dict)

    def edits(self, document: Document) -> Iterator[tuple[Edit, str]]:
        """Yield the edits of a document, each with the name that it binds."""
        for each in tagged.find(document.root):
            if name := self.names.get(id(each.node)):
                yield replace_comment(each.comment, comment.write(name)), name


def read(documents: Sequence[Document], notes: list[Note]) -> NamedFields:
    """Read the comments of some documents."""
    named = NamedFields()
    roots = [document.root for document in documents]
    fields = [each for root in roots for each in tagged.find(root)]
    texts = [(each.pattern, node) for each in fields if isinstance(node := each.node, Scalar) and not is_null(node)]
    values = {setter.name: setter.value for setter, _ in derive(roots) if not setter.is_list}
    for pattern, node in texts:  # kpt itself derives nothing from an empty text, and sets it nevertheless
        values = {**pattern.derive(node.value, empty=True), **values}
    for setter, value in values.items():
        types = {type_of(node) for pattern, node in texts if pattern.sole_name == setter}
        named.words[setter] = Word(setter, value, is_setter=True, schema=typed(types))
    patterns: dict[str, str] = {}
    for each in fields:
        fault = _list(each, each.node, named) if isinstance(each.node, SequenceNode) else _text(each, values)
        if fault:
            at = f"{each.node.place}: {path_text(each.path)}: {each.pattern.text}: {fault}"
            todo = "decide what is right, and bind the field"
            notes.append(Note(DOUBTFUL, "kpt-set comments that cannot be kept", todo, (at,)))
            continue
        name = each.pattern.sole_name or patterns.get(each.pattern.text)
        if name is None:
            name = patterns[each.pattern.text] = named_for(each.path, named.words)
            named.words[name] = Word(name, each.pattern.text, is_setter=False)
        named.names[id(each.node)] = name
    return named


def functions(file: Source) -> Iterator[Note]:
    """Name the functions of a Kptfile's pipeline that do not apply setters."""
    root = next((document.root for document in parse_text(file)), None)
    own = [id(mutator.node) for mutator in kptfile.find_mutators(root)]
    for entry in entries(root.get("pipeline") if isinstance(root, MappingNode) else None):
        for function in mappings(entry.value):
            if id(function) not in own:
                called = function.text("image") or function.text("exec")
                todo = "run the function before you import, or do by hand what it does"
                yield Note(LOST, "functions of the pipeline", todo, (f"{file.name}: {entry.name}: {called}",))


def _list(field: Tagged, node: SequenceNode, named: NamedFields) -> str:
    """Define the setter of a list; say why it cannot be bound."""
    name = field.pattern.sole_name
    texts = tuple(scalar.value for scalar in scalars(node))
    if name is None or len(texts) < len(node.items):
        return "a list has one setter, which sets it as a whole"
    word = named.words.setdefault(name, Word(name, "", is_setter=True, values=texts, schema=typed({"array"})))
    return "" if word.values == texts else "its other fields show other values"


def _text(field: Tagged, values: Mapping[str, str]) -> str:
    assert isinstance(field.node, Scalar)
    if is_null(field.node) or field.node.style in "|>":
        return "setters give texts of one line"
    try:
        text = field.pattern.expand(values, "")
    except InputError as error:
        return str(error)
    return "" if text == field.node.value else f"yields {text!r}, not {field.node.value!r}"
