"""Derives name, value, type and number of fields of each kpt setter from the tagged fields and the Kptfile's values."""

from collections.abc import Iterable, Mapping

from packyard.core.yaml.content import flow_text
from packyard.core.yaml.node import SequenceNode
from packyard.core.yaml.values import is_null, type_of
from packyard.using.setters.definition import Setter
from packyard.using.setters.kpt.apply import roots_of, sorted_texts
from packyard.using.setters.kpt.tags import Place

#: A setter that a comment or a Kptfile names, and the number of the fields that say what it is.
Counted = tuple[Setter, int]


def derive(fields: Iterable[Place], values: Mapping[str, str] | None = None) -> list[Counted]:
    """Return the setters of fields, sorted by name; a name may be both a list's and a text's.

    One of ``values`` goes first, then that of the first field that has one. A pattern that its field does not
    match says nothing, and is not counted. Text becomes a better type where a later field has one.
    """
    setters = (_given(*pair) for pair in (values or {}).items())
    by_key = {(setter.name, setter.is_list): (setter, 0) for setter in setters}
    for setter in (setter for field in fields for setter in _of_field(field)):
        key = (setter.name, setter.is_list)
        old, count = by_key.get(key, (setter, 0))
        by_key[key] = old._replace(type=setter.type if old.type == "string" else old.type), count + 1
    return [by_key[key] for key in sorted(by_key, key=lambda key: (key[0], not key[1]))]


def _given(name: str, text: str) -> Setter:
    roots = roots_of(text)
    root = roots[0] if len(roots) == 1 else None
    if isinstance(root, SequenceNode):
        return Setter(name, flow_text(root), type="array")
    return Setter(name, "[]", type="array") if is_null(root) else Setter(name, text, type="string")


def _of_field(field: Place) -> list[Setter]:
    node = field.node
    if isinstance(node, SequenceNode):
        name = field.pattern.text.removeprefix("${").removesuffix("}")  # whatever else is in the pattern, as in kpt
        return [Setter(name, f"[{', '.join(sorted_texts(node))}]", type="array")]
    return [Setter(name, text, type=type_of(node)) for name, text in field.pattern.derive(node.value).items()]
