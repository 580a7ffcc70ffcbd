"""The values that patches of pods bring to objects by a file of the option, since setters change them there.

    option:                                       below ``/option`` of an object for a moment
      tolerations:
      - key: dedicated # {"$openapi":"NODE_TAINT"}

A value has the name of its field in a pod; what is equal stands there once.
"""

from collections.abc import Iterable
from itertools import count

from packyard.core.yaml import layout, make, pointer
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Collection, Comment, Item, Node, Scalar, SequenceNode
from packyard.writing.source.pod_operations import Operation

#: Where objects have the values of an option for a moment.
OPTION = "/option"
_COPIED = "# of those that kustomization.yaml names, whose pods get copies"


def is_brought(operation: Operation) -> bool:
    """Say whether a file brings the value of an operation: setters change it, or it has texts of several lines."""
    if operation.value is None or not operation.origin:
        return False
    return bool(operation.comment) or any(map(_needs_lines, walk(operation.value)))


def _needs_lines(node: Node) -> bool:
    if isinstance(node, Collection) and any(child.comment or child.head for child in node.children):
        return True
    return bool(node.comment) or (isinstance(node, Scalar) and "\n" in node.value)


class Brought:
    """The values that the file of an option brings."""

    def __init__(self, name: str) -> None:
        """Begin with none; ``name`` is that of the option's folder, for messages."""
        self._name = name
        self._option = make.mapping(name, {})
        self._places: dict[str, str] = {}
        self._lists: dict[str, tuple[str, SequenceNode]] = {}

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._places)

    def add(self, operation: Operation, patch: Iterable[Operation] = ()) -> str:
        """Return where the value of an operation stands in the objects, as a JSON pointer.

        It is in the value of another operation of its ``patch`` where that has it.
        """
        whole = [item for item in patch if is_brought(item) and operation.origin.startswith(f"{item.origin}/")]
        if whole:
            outer = min(whole, key=lambda item: len(item.origin))
            return self.add(outer) + operation.origin.removeprefix(outer.origin)
        assert operation.value is not None
        steps = pointer.steps(operation.origin)
        item = Item(operation.value, 0)
        item.comment = operation.comment
        text = "\n".join([steps[-1] if not steps[-1].isdecimal() else "", *layout.lines([item])])
        if text not in self._places:
            self._places[text] = self._join(steps[-2], item) if steps[-1].isdecimal() else self._enter(steps[-1], item)
        return self._places[text]

    def write(self) -> bytes:
        """Return the file."""
        root = make.mapping(self._name, {"apiVersion": "any/v1", "kind": "Any"})
        metadata = make.mapping(self._name, {"name": "any"})
        metadata.flow = True
        root.entries[-1].comment = Comment(_COPIED, 0, 0, False)
        root.entries += [make.entry("metadata", metadata), make.entry(OPTION[1:], self._option)]
        return layout.write(root)

    def _enter(self, field: str, item: Item) -> str:
        """Add the value of a field; of two fields with one name the second has a number."""
        names = (field if number == 1 else f"{field}-{number}" for number in count(1))
        name = next(name for name in names if self._option.entry(name) is None)
        entry = make.entry(name, item.value)
        entry.comment = item.comment
        self._option.entries.append(entry)
        return f"{OPTION}/{pointer.escaped(name)}"

    def _join(self, field: str, item: Item) -> str:
        """Add an item to the list of all that are for such a field."""
        if field not in self._lists:
            sequence = make.sequence(self._name, [])
            self._lists[field] = self._enter(field, Item(sequence, 0)), sequence
        place, listed = self._lists[field]
        listed.children.append(item)
        return f"{place}/{len(listed.children) - 1}"
