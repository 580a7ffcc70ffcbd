"""Comments of kpt as comments of ours: a name alone is a setter, a pattern a substitution named for its field.

image: nginx:1.7 # kpt-set: ${image}:${tag}    ->    image: nginx:1.7 # {"$openapi":"IMAGE"}
                                                     IMAGE: "${image}:${tag}", image: nginx, tag: "1.7"

What the fields show is what the setters are worth, as kpt itself derives it, whatever the Kptfile says.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.document import entries, mappings, parse_text, scalars
from packyard.core.yaml.node import Comment, Document, MappingNode, Scalar, SequenceNode, Source
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.kpt import kptpackage, tags
from packyard.using.setters.kpt.derivation import derive
from packyard.writing.authoring.import_.meaning import substitution, typed
from packyard.writing.authoring.import_.note import LOST, Note


class Bound(NamedTuple):
    """A field of one of some documents, by its number, with the comment that binds it."""

    number: int
    node: Scalar | SequenceNode
    path: tuple[Step, ...]
    reference: DefinitionRef
    comment: Comment


def read(documents: Sequence[Document]) -> tuple[Definitions, list[Bound]]:
    """Read the comments of some documents: what they define, each pattern by its text, and what they bind."""
    fields = [(number, field) for number, document in enumerate(documents) for field in tags.find(document.root)]
    texts = [(tag.pattern, node) for _, tag in fields if isinstance(node := tag.node, Scalar) and not is_null(node)]
    values = {setter.name: setter.value for setter, _ in derive(field for _, field in fields) if not setter.is_list}
    for pattern, node in texts:  # kpt itself derives nothing from an empty text, and sets it nevertheless
        values = {**pattern.derive(node.value, empty=True), **values}
    setters: dict[str, Setter] = {}
    for name, value in values.items():
        types = {type_of(node) for pattern, node in texts if pattern.sole_name == name}
        setters[name] = Setter(name, value, schema=typed(types))
    for sole, node in ((field.pattern.sole_name, field.node) for _, field in fields):
        if sole and isinstance(node, SequenceNode):
            items = tuple(scalar.value for scalar in scalars(node))
            setters.setdefault(sole, Setter(sole, values=items, type="array", schema={"type": "array"}))
    substitutions: dict[str, Substitution] = {}
    bound: list[Bound] = []
    for number, field in fields:
        name = field.pattern.sole_name or field.pattern.text
        if name not in setters:
            substitutions[name] = substitution(name, field.pattern.text)
        assert field.comment
        bound.append(Bound(number, field.node, field.path, DefinitionRef("", name), field.comment))
    return Definitions(setters, substitutions), bound


def functions(file: Source) -> Iterator[Note]:
    """Name the functions of a Kptfile's pipeline that do not apply setters."""
    root = next((document.root for document in parse_text(file)), None)
    own = [id(mutator) for mutator in kptpackage.find_mutators(root)]
    for entry in entries(root.get("pipeline") if isinstance(root, MappingNode) else None):
        for function in mappings(entry.value):
            if id(function) not in own:
                called = function.text("image") or function.text("exec")
                todo = "run the function before you import, or do by hand what it does"
                yield Note(LOST, "functions of the pipeline", todo, (f"{file.name}: {entry.name}: {called}",))
