"""Comments of kpt as comments of ours: a name alone is a setter, a pattern a substitution named for its field.

image: nginx:1.7 # kpt-set: ${image}:${tag}    ->    image: nginx:1.7 # {"$openapi":"IMAGE"}
                                                     IMAGE: "${image}:${tag}", image: nginx, tag: "1.7"

What the fields show is what the setters are worth, as kpt itself derives it, whatever the Kptfile says.
"""

from collections.abc import Iterator, Mapping, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.document import entries, mappings, parse_text, scalars
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Document, MappingNode, Scalar, SequenceNode, Source
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters import comment
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt import kptfile, tags
from packyard.using.setters.kpt.derivation import derive
from packyard.using.setters.kpt.tags import Place
from packyard.writing.authoring.import_.meaning import named_for, substitution, typed
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note


def read(
    documents: Sequence[Document], edits: Sequence[list[Edit]], notes: list[Note]
) -> tuple[Definitions, list[str]]:
    """Read the comments of some documents, and add to the edits of each; return the definitions, and what is bound."""
    fields = [(number, field) for number, document in enumerate(documents) for field in tags.find(document.root)]
    texts = [(tag.pattern, node) for _, tag in fields if isinstance(node := tag.node, Scalar) and not is_null(node)]
    values = {setter.name: setter.value for setter, _ in derive(field for _, field in fields) if not setter.is_list}
    for pattern, node in texts:  # kpt itself derives nothing from an empty text, and sets it nevertheless
        values = {**pattern.derive(node.value, empty=True), **values}
    setters: dict[str, Setter] = {}
    for name, value in values.items():
        types = {type_of(node) for pattern, node in texts if pattern.sole_name == name}
        setters[name] = Setter(name, value, schema=typed(types))
    substitutions: dict[str, Substitution] = {}
    bound: list[str] = []
    for number, field in fields:
        fault = _list(field, field.node, setters) if isinstance(field.node, SequenceNode) else _text(field, values)
        if fault:
            at = f"{field.node.place}: {path_text(field.path)}: {field.pattern.text}: {fault}"
            todo = "decide what is right, and bind the field"
            notes.append(Note(DOUBTFUL, "kpt-set comments that cannot be kept", todo, (at,)))
            continue
        same = (name for name, known in substitutions.items() if known.pattern == field.pattern.text)
        name = field.pattern.sole_name or next(same, "") or named_for(field.path, {*setters, *substitutions})
        if name not in setters:
            substitutions[name] = substitution(name, field.pattern.text)
        assert field.comment
        edits[number].append(replace_comment(field.comment, comment.write(name)))
        bound.append(name)
    return Definitions(setters, substitutions), bound


def functions(file: Source) -> Iterator[Note]:
    """Name the functions of a Kptfile's pipeline that do not apply setters."""
    root = next((document.root for document in parse_text(file)), None)
    own = [id(mutator) for mutator in kptfile.find_mutators(root)]
    for entry in entries(root.get("pipeline") if isinstance(root, MappingNode) else None):
        for function in mappings(entry.value):
            if id(function) not in own:
                called = function.text("image") or function.text("exec")
                todo = "run the function before you import, or do by hand what it does"
                yield Note(LOST, "functions of the pipeline", todo, (f"{file.name}: {entry.name}: {called}",))


def _list(field: Place, node: SequenceNode, setters: dict[str, Setter]) -> str:
    """Define the setter of a list; say why it cannot be bound."""
    name = field.pattern.sole_name
    texts = tuple(scalar.value for scalar in scalars(node))
    if name is None or len(texts) < len(node.items):
        return "a list has one setter, which sets it as a whole"
    setter = setters.setdefault(name, Setter(name, values=texts, type="array", schema={"type": "array"}))
    return "" if setter.values == texts else "its other fields show other values"


def _text(field: Place, values: Mapping[str, str]) -> str:
    assert isinstance(field.node, Scalar)
    if is_null(field.node) or field.node.style in "|>":
        return "setters give texts of one line"
    try:
        text = field.pattern.expand(values, "")
    except InputError as error:
        return str(error)
    return "" if text == field.node.value else f"yields {text!r}, not {field.node.value!r}"
