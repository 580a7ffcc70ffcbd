"""Derives name, value, type and number of fields of each kpt setter from the tagged fields and the Kptfile's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packyard.core.yaml.content import flow_text
from packyard.core.yaml.node import Node, SequenceNode
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters.kpt.apply import roots_of, sorted_texts
from packyard.using.setters.kpt.kptfile import TAGS
from packyard.using.setters.kpt.tagged import Tagged, find


@dataclass(frozen=True, slots=True)
class KptSetter:
    """A setter that a comment or a Kptfile names; ``type`` is that of a YAML tag, or ``array``."""

    name: str
    value: str
    type: str
    count: int = 0  # of the fields that say what it is
    file: str = ""
    line: int = 0

    @property
    def is_list(self) -> bool:
        """Whether it sets whole lists."""
        return self.type == "array"

    def takes_text(self, is_list: bool) -> bool:
        """Say whether its fields take one text, as far as they say what they are: a field without value may be any."""
        return bool(self.count and not self.is_list and (self.value or not is_list))

    @property
    def schema_type(self) -> str:
        """The type by its name in definitions."""
        return next((name for name, tag in TAGS.items() if tag == self.type), self.type)

    @property
    def text(self) -> str:
        """The one line that kpt prints."""
        return f"Name: {self.name}, Value: {self.value}, Type: {self.type}, Count: {self.count}"


def derive(roots: Iterable[Node | None], values: Mapping[str, str] | None = None) -> list[KptSetter]:
    """Return the setters of objects, sorted by name; a name may be both a list's and a text's.

    One of ``values`` goes first, then that of the first field that has one. A pattern that its field does not
    match says nothing, and is not counted. Text becomes a better type where a later field has one.
    """
    by_key = {(setter.name, setter.is_list): setter for setter in (_given(*pair) for pair in (values or {}).items())}
    for root in roots:
        for field in find(root):
            for setter in _of_field(field):
                key = (setter.name, setter.is_list)
                old = by_key.get(key, setter)
                by_key[key] = replace(old, type=setter.type if old.type == "str" else old.type, count=old.count + 1)
    return sorted(by_key.values(), key=lambda setter: (setter.name, not setter.is_list))


def _given(name: str, text: str) -> KptSetter:
    roots = roots_of(text)
    root = roots[0] if len(roots) == 1 else None
    if isinstance(root, SequenceNode):
        return KptSetter(name, flow_text(root), "array")
    return KptSetter(name, "[]", "array") if is_null(root) else KptSetter(name, text, "str")


def _of_field(field: Tagged) -> list[KptSetter]:
    node = field.node
    if isinstance(node, SequenceNode):
        texts = sorted_texts(node)
        name = field.pattern.text.removeprefix("${").removesuffix("}")  # whatever else is in the pattern, as in kpt
        return [KptSetter(name, f"[{', '.join(texts)}]", "array")]
    kind = type_of(node)
    return [KptSetter(name, text, TAGS.get(kind, kind)) for name, text in field.pattern.derive(node.value).items()]
