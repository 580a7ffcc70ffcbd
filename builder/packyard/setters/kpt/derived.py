"""What kpt's setters are now, read from the tagged fields and from what a Kptfile gives: kpt's list-setters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packyard.errors import InputError
from packyard.setters.kpt.rewrite import flow_text, parse_list, reads_as
from packyard.setters.kpt.tagged import Tagged, find
from packyard.text.node import Node, Scalar, Sequence

#: The types by their names in YAML tags, as kpt prints them.
_TAGS = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}


@dataclass(frozen=True, slots=True)
class KptSetter:
    """A setter that a comment or a Kptfile names; ``type`` is that of a YAML tag, or ``array``."""

    name: str
    value: str
    type: str
    count: int = 0  # of the fields that say what it is

    @property
    def text(self) -> str:
        """The one line that kpt prints."""
        return f"Name: {self.name}, Value: {self.value}, Type: {self.type}, Count: {self.count}"


def derive(roots: Iterable[Node | None], given: Mapping[str, str] | None = None) -> list[KptSetter]:
    """Return the setters of objects, sorted by name.

    A value that is ``given`` goes first, then that of the first field that has one. A pattern that its field does not
    match says nothing, and is not counted. Text becomes a better type where a later field has one.
    """
    found = {name: _given(name, text) for name, text in (given or {}).items()}
    for root in roots:
        for field in find(root):
            for setter in _of_field(field):
                old = found.get(setter.name, replace(setter, count=0))
                better = setter.type if old.type == "str" and (setter.type != "array" or not old.value) else old.type
                found[setter.name] = replace(old, type=better, count=old.count + 1)
    return [setter for _, setter in sorted(found.items())]


def _given(name: str, text: str) -> KptSetter:
    try:
        listed = parse_list(text) if text.strip() else None
    except InputError:
        listed = None
    if listed is None:
        return KptSetter(name, text, "array" if text.strip() == "[]" else "str")
    return KptSetter(name, flow_text(listed), "array")


def _of_field(field: Tagged) -> list[KptSetter]:
    node = field.node
    if isinstance(node, Sequence):
        name = field.pattern.sole_name
        texts = sorted(item.value.value if isinstance(item.value, Scalar) else "" for item in node.items)
        return [KptSetter(name, f"[{', '.join(texts)}]", "array")] if name else []
    kind = reads_as(node)
    return [KptSetter(name, text, _TAGS.get(kind, kind)) for name, text in field.pattern.derive(node.value).items()]
