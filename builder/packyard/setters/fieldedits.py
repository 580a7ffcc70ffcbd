"""The fields that changed setters reach, and the edits that give them their values in the quotes and style of each.

Which comment binds which field is `binding`; how a value is written is `yaml.edit`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from packyard.dataclass import dataclass
from packyard.kubernetes.fieldtypes import field_type
from packyard.setters import binding as bindings
from packyard.setters.binding import Binding
from packyard.setters.definition import Definitions, Setter, Substitution, full_type
from packyard.yaml import items
from packyard.yaml.edit import PLAIN_TYPES, Edit, set_text
from packyard.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.yaml.scalar import implicit_type
from packyard.yaml.tree import double
from packyard.yaml.values import type_of


@dataclass(frozen=True, slots=True)
class FieldChange:
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


class FieldEdits:
    """The edits and changes of one file, gathered document by document; ``counts`` are the fields of each setter."""

    def __init__(self, definitions: Definitions, changed: Mapping[str, Setter], names: Collection[str] = ("",)) -> None:
        self.definitions = definitions
        self.changed = changed
        self.names = () if "" in names else names  # of what reaches a changed setter, where that is known
        self.counts = dict.fromkeys(changed, 0)
        self.edits: list[Edit] = []
        self.changes: list[FieldChange] = []

    def visit(self, document: Document) -> None:
        """Set the fields of a document."""
        for bound in bindings.find(document):
            if self.names and bound.reference.name not in self.names:
                continue
            definition = self.definitions.resolve(bound.reference)
            if definition is None or not sets(definition, bound.node):
                continue
            reached = self.definitions.reached(definition, self.changed)
            if reached and isinstance(bound.node, Scalar):
                self._scalar(document, bound, bound.node, definition)
            elif reached and isinstance(definition, Setter):
                self._list(bound, definition, definition.values or ())
            for name in reached:
                self.counts[name] += 1

    def _scalar(self, document: Document, bound: Binding, old: Scalar, definition: Setter | Substitution) -> None:
        new = definition.text if isinstance(definition, Setter) else self.definitions.expand(definition)
        self._note(bound, definition, old.value, new)
        wanted = _wanted(document, bound, old, definition, new)
        if old.value == new and wanted in (None, type_of(old)):
            return
        self.edits += set_text(old, new, wanted, flow=bound.flow)

    def _list(self, bound: Binding, definition: Setter, values: Sequence[str]) -> None:
        assert isinstance(bound.node, SequenceNode)
        node = items.complete(bound.node)
        self._note(bound, definition, node.lexeme, ",".join(values))
        self.edits += items.exchange(node, [*map(double, values)], bound.part)

    def _note(self, bound: Binding, definition: Setter | Substitution, old: str, new: str) -> None:
        line, column = bound.node.source.locate(bound.node.start)
        path = bindings.path_text(bound.path)
        aliases = bound.node.source.aliases.get(bound.node.start, 0)
        self.changes.append(FieldChange(definition.name, bound.node.source.name, line, column, path, old, new, aliases))


def sets(definition: Setter | Substitution, node: Node) -> bool:
    """Say whether a definition gives this field its value: a list setter lists only, any other scalars only."""
    listed = isinstance(definition, Setter) and (definition.is_list or bool(definition.values))
    return listed != isinstance(node, Scalar)


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
    known = None if bound.from_key else _known_type(document.root, bound)
    if isinstance(definition, Substitution):
        numeric = known in PLAIN_TYPES
        return known if numeric and implicit_type(new) == known else "string"
    if declared in PLAIN_TYPES and old.style in "'\"" and old.value:
        return declared if known in PLAIN_TYPES else "string"
    return declared or (known if known != "int-or-string" else None)


def _known_type(root: Node | None, bound: Binding) -> str | None:
    if not isinstance(root, MappingNode):
        return None
    return field_type(root.text("apiVersion"), root.text("kind"), bound.path)
