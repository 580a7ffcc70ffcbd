"""The fields that setter comments bind, and the edits that give them values in the quotes and style of each.

The places are those where kustomize 3.8.7 honors a comment:

    a: 1 # C                behind a scalar            # C
    - a # C                                            b: 1       alone above a key, or above a list item
    l: [a, b] # C           every element              l: # C
    {a: 1, # C                                         - a        the list, behind its key or above it

A comment behind a value wins over one above it. Two comment lines, or a blank line below the comment, bind nothing.
Nor does one behind the header of a block scalar, ``a: |- # C``, which kustomize drops from the file.
How a value is written is `core.yaml.edit`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from packyard.core.errors import InputError
from packyard.core.kubernetes.fieldtypes import Step, field_type
from packyard.core.yaml import items
from packyard.core.yaml.compare import Planned, PlannedNode
from packyard.core.yaml.content import double
from packyard.core.yaml.edit import PLAIN_TYPES, Edit, set_text
from packyard.core.yaml.node import Child, Comment, Document, Entry, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import implicit_type, type_of
from packyard.using.setters.comment import DefinitionRef, parse
from packyard.using.setters.definition import Definitions, Setter, Substitution, full_type


class Binding(NamedTuple):
    """A field, and the reference of the comment that binds it."""

    node: Scalar | SequenceNode
    path: tuple[Step, ...]
    reference: DefinitionRef
    comment: Comment
    flow: bool  # whether the field stands inside brackets
    from_key: bool  # whether the comment belongs to the key, not to the value
    part: Child  # what the field is the value of


class FieldChange(NamedTuple):
    """One field that a plan sets; old and new are texts without quotes, and may be equal.

    ``name`` is that of the definition which the field's comment refers to; ``aliases`` are the places that repeat it.
    """

    name: str
    file: str
    line: int
    column: int
    path: str
    old: str
    new: str
    aliases: int = 0


def find(root: Node | None) -> list[Binding]:
    """Return every bound field of a document's root in the order of the text."""
    return list(_find(root, (), False)) if root else []


def path_text(path: tuple[Step, ...]) -> str:
    """Write a path as people do: ``spec.containers[0].image``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def sets(definition: Setter | Substitution, node: Node) -> bool:
    """Say whether a definition gives this field its value: a list setter lists only, any other scalars only."""
    listed = isinstance(definition, Setter) and (definition.is_list or bool(definition.values))
    return listed != isinstance(node, Scalar)


def defined(
    documents: Iterable[Document], definitions: Definitions, names: Collection[str] = ()
) -> Iterator[tuple[Document, Binding, Setter | Substitution]]:
    """Yield the fields that get their values from definitions, each with its own; with ``names`` from these alone."""
    for document in documents:
        for bound in find(document.root):
            if not names or bound.reference.name in names:
                definition = definitions.resolve(bound.reference)
                if definition is not None and sets(definition, bound.node):
                    yield document, bound, definition


class FieldEdits:
    """The edits of fields; ``changes``, and ``counts`` of the fields of each setter, are those of all files."""

    def __init__(self, definitions: Definitions, changed: Mapping[str, Setter], names: Collection[str] = ("",)) -> None:
        self.definitions = definitions
        self.changed = changed
        self.names = () if "" in names else names  # of what reaches a changed setter, where that is known
        self.counts = dict.fromkeys(changed, 0)
        self.changes: list[FieldChange] = []

    def visit(self, documents: Iterable[Document]) -> tuple[list[Edit], Planned]:
        """Return the edits that set the fields of a file's documents, and what each field has to show."""
        edits: list[Edit] = []
        planned: list[PlannedNode] = []
        for document, bound, definition in defined(documents, self.definitions, self.names):
            names = self.definitions.setters_of(definition) & self.changed.keys()
            if not names:
                continue
            if isinstance(bound.node, Scalar):
                new = self.definitions.expand(definition)
                edits += _edits(document, bound, bound.node, definition, new)
                planned.append((bound.node, new))
                self._note(bound, definition, bound.node.value, new)
            elif isinstance(definition, Setter):
                values = list(definition.values or ())
                edits += items.exchange(bound.node, [*map(double, values)], bound.part)
                planned.append((bound.node, values))
                self._note(bound, definition, bound.node.lexeme, ",".join(values) or "[]")
            for name in names:
                self.counts[name] += 1
        return edits, planned

    def _note(self, bound: Binding, definition: Setter | Substitution, old: str, new: str) -> None:
        source, path = bound.node.source, path_text(bound.path)
        aliases = source.aliases.get(bound.node.start, 0)
        place = source.locate(bound.node.start)
        self.changes.append(FieldChange(definition.name, source.name, *place, path, old, new, aliases))


def _edits(document: Document, bound: Binding, old: Scalar, definition: Setter | Substitution, new: str) -> list[Edit]:
    read_as = _wanted(document, bound, old, definition, new)
    if old.value == new and read_as in (None, type_of(old)):
        return []
    return set_text(old, new, read_as, flow=bound.flow)


def _wanted(document: Document, bound: Binding, old: Scalar, definition: Setter | Substitution, new: str) -> str | None:
    """Return the type that the field must be read as, or None where nobody says.

    What the definition or Kubernetes declares goes first, as in kustomize 3.8.7. But a field that is quoted and not
    empty stays text under a number's or boolean's setter unless Kubernetes itself knows better: the API server refuses
    ``data: {USER_ID: 1000}``.
    """
    declared = full_type(definition.type) if isinstance(definition, Setter) else "string"
    if isinstance(definition, Setter) and definition.value in definition.enum_values:
        return None
    if implicit_type(new) == "string" and implicit_type(old.value) == "string" and old.value:
        return declared or None
    kubernetes_type = None if bound.from_key else type_at(document.root, bound.path)
    if isinstance(definition, Substitution):
        numeric = kubernetes_type in PLAIN_TYPES
        return kubernetes_type if numeric and implicit_type(new) == kubernetes_type else "string"
    if declared in PLAIN_TYPES and old.style in "'\"" and old.value:
        return declared if kubernetes_type in PLAIN_TYPES else "string"
    return declared or (kubernetes_type if kubernetes_type != "int-or-string" else None)


def type_at(root: Node | None, path: tuple[Step, ...]) -> str | None:
    """Return the type that Kubernetes gives a field of an object."""
    return field_type(root.text("apiVersion"), root.text("kind"), path) if root else None


def overwritten(changes: Iterable[FieldChange], definitions: Definitions) -> Iterator[FieldChange]:
    """Yield the fields edited by hand that a set of their setters overwrites, by the definitions of before.

    Such a field says ``replicas: 5 # {"$openapi":"WORKERS"}`` while WORKERS is 2.
    """
    for change in changes:
        definition = definitions.setters.get(change.name) or definitions.substitutions.get(change.name)
        if definition and change.old != change.new and is_edited(change.old, definition, definitions):
            yield change


def is_edited(text: str, definition: Setter | Substitution, definitions: Definitions) -> bool:
    """Say whether a field has another text than a set wrote; that of a setter which is still to be set may be any."""
    value = expected(definition, definitions)
    is_open = any(definitions.setters[name].must_be_set for name in definitions.setters_of(definition))
    return isinstance(value, str) and text != value and not is_open


def expected(definition: Setter | Substitution, definitions: Definitions) -> str | list[str] | None:
    """Return the value that a set to the current value writes; None where the definition is broken."""
    if isinstance(definition, Setter):
        return list(definition.values or ()) if definition.is_list or definition.values else definition.text
    try:
        return definitions.expand(definition)
    except InputError:
        return None


def _find(node: Node, path: tuple[Step, ...], flow: bool) -> Iterator[Binding]:
    if isinstance(node, MappingNode | SequenceNode):
        for index, part in enumerate(node.children):
            step = part.name if isinstance(part, Entry) else index
            yield from _of_part(part, (*path, step), node.flow or flow)


def _of_part(part: Child, path: tuple[Step, ...], flow: bool) -> Iterator[Binding]:
    value = part.value
    behind = _bound(value.comment) if value.comment else None
    above = _bound(_alone_above(part)) if part.head else None
    if isinstance(value, Scalar):
        chosen = behind or (above if isinstance(part, Entry) or value.comment is None else None)
        if chosen:
            yield Binding(value, path, *chosen, flow, chosen is not behind, part)
        return
    if isinstance(value, SequenceNode):
        chosen = (_bound(part.comment) if part.comment else above) or (behind if value.flow else None)
        if chosen and isinstance(part, Entry):
            yield Binding(value, path, *chosen, flow, True, part)
        if behind and value.flow:
            for index, item in enumerate(value.items):
                if isinstance(item.value, Scalar) and item.value.comment is None:
                    yield Binding(item.value, (*path, index), *behind, True, False, item)
    if isinstance(part, Item) and above:
        yield from _first_in(value, path, above, flow)
    yield from _find(value, path, flow)


def _first_in(
    value: Node, path: tuple[Step, ...], above: tuple[DefinitionRef, Comment], flow: bool
) -> Iterator[Binding]:
    """Bind what begins an item by the comment above the item: the first key's value, or the first item of its list."""
    if not isinstance(value, MappingNode | SequenceNode) or not value.children:
        return
    first: Child = value.children[0]
    step = first.name if isinstance(first, Entry) else 0
    if isinstance(first.value, SequenceNode) and isinstance(first, Entry) and first.comment is None:
        yield Binding(first.value, (*path, step), *above, flow, True, first)
    if isinstance(first.value, Scalar) and _bound(first.value.comment) is None:
        yield Binding(first.value, (*path, step), *above, flow, True, first)


def _bound(comment: Comment | None) -> tuple[DefinitionRef, Comment] | None:
    reference = parse(comment.text) if comment else None
    return (reference, comment) if reference and comment else None


def _alone_above(part: Child) -> Comment | None:
    """Return the comment on the line above (behind the dash, for an item), if it is one line."""
    comment = part.head[-1]
    source = part.value.source
    if source.locate(part.start)[0] != source.locate(comment.start)[0] + 1:
        return None
    if len(part.head) > 1 and source.locate(part.head[-2].start)[0] == source.locate(comment.start)[0] - 1:
        return None
    return comment
