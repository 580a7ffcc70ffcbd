"""Comments of kpt as words of ours: a name alone is a setter, a pattern a substitution named for its field.

image: nginx:1.7 # kpt-set: ${image}:${tag}    ->    image: nginx:1.7 # {"$openapi":"IMAGE"}
                                                     IMAGE: "${image}:${tag}", image: nginx, tag: "1.7"

What the fields show is what the setters are worth, as kpt itself derives it, whatever the Kptfile says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import Document, Node, Scalar, SequenceNode
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt import kptfile, tagged
from packyard.using.setters.kpt.derived import derive
from packyard.using.setters.kpt.kptpackage import KptPackage
from packyard.using.setters.kpt.tagged import Tagged
from packyard.writing.authoring.import_.meaning import Word, named_for, typed
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note


@dataclass(slots=True)
class NamedFields:
    """Names by the identities of the fields that they bind, and what the names stand for."""

    bound: dict[int, str] = field(default_factory=dict)
    words: dict[str, Word] = field(default_factory=dict)


def read(documents: Sequence[Document], notes: list[Note]) -> NamedFields:
    """Read the comments of some documents."""
    named = NamedFields()
    roots = [document.root for document in documents]
    fields = [each for root in roots for each in tagged.find(root)]
    texts = [(each.pattern, node) for each in fields if isinstance(node := each.node, Scalar) and not is_null(node)]
    values = {setter.name: setter.value for setter in derive(roots) if not setter.is_list}
    for pattern, node in texts:  # kpt itself derives nothing from an empty text, and sets it nevertheless
        values = {**pattern.derive(node.value, empty=True), **values}
    for setter, value in values.items():
        types = {type_of(node) for pattern, node in texts if pattern.sole_name == setter}
        named.words[setter] = Word(setter, value, is_setter=True, schema=typed(types))
    patterns: dict[str, str] = {}
    for each in fields:
        fault = _list(each, each.node, named) if isinstance(each.node, SequenceNode) else _text(each, values)
        if fault:
            notes.append(_unbound(each, fault))
            continue
        name = each.pattern.sole_name or patterns.get(each.pattern.text)
        if name is None:
            name = patterns[each.pattern.text] = named_for(each.path, named.words)
            named.words[name] = Word(name, each.pattern.text, is_setter=False)
        named.bound[id(each.node)] = name
    return named


def review(package: KptPackage, root: Node | None, words: Mapping[str, Word], file: str) -> list[Note]:
    """Say what a Kptfile has beside the setters of the fields."""
    notes = [
        Note(DOUBTFUL, "values that fields do not show", "set them once more", (f"{file}: {name}: {text!r}",))
        for name, text in package.values.items()
        if name in words and words[name].values is None and words[name].value != text
    ]
    notes += [
        Note(LOST, "setters that no field uses", "bind the fields that they were meant for", (f"{file}: {name}",))
        for name in package.values
        if name not in words
    ]
    own = [id(each.node) for each in kptfile.find_mutators(root)]
    for entry in entries(root.get("pipeline") if root else None):
        for function in mappings(entry.value):
            if id(function) not in own:
                called = function.text("image") or function.text("exec")
                todo = "run the function before you import, or do by hand what it does"
                notes.append(Note(LOST, "functions of the pipeline", todo, (f"{file}: {entry.name}: {called}",)))
    return notes


def _list(each: Tagged, node: SequenceNode, named: NamedFields) -> str:
    """Define the setter of a list; say why it cannot be bound."""
    name = each.pattern.sole_name
    texts = tuple(each.value for each in scalars(node))
    if name is None or len(texts) < len(node.items):
        return "a list has one setter, which sets it as a whole"
    word = named.words.setdefault(name, Word(name, "", is_setter=True, values=texts, schema=typed({"array"})))
    return "" if word.values == texts else "its other fields show other values"


def _text(each: Tagged, values: Mapping[str, str]) -> str:
    assert isinstance(each.node, Scalar)
    if is_null(each.node):
        return "null is no text, and setters give texts"
    try:
        text = each.pattern.expand(values, "")
    except InputError as error:
        return str(error)
    return "" if text == each.node.value else f"yields {text!r}, not {each.node.value!r}"


def _unbound(each: Tagged, fault: str) -> Note:
    place = f"{each.node.place}: {path_text(each.path)}: {each.pattern.text}: {fault}"
    return Note(DOUBTFUL, "kpt-set comments that cannot be kept", "decide what is right, and bind the field", (place,))
