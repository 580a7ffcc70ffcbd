"""What a Krmfile states, as plain facts: of each setter, substitution and rule what matters to those who use it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from packyard.core.yaml.document import source_of
from packyard.using.setters.definition import Setter, full_type
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules import rule

#: Kind and name of a definition, and what is stated of it.
Stated = dict[tuple[str, str], Mapping[str, object]]
_IS_SET = "isSet"


def read(data: bytes, name: str) -> Stated:
    """Read a Krmfile; a setter's ``default`` is None where a value has to be set."""
    krmfile = Krmfile(source_of(data, name))
    stated: Stated = {("setter", name): _setter(setter) for name, setter in krmfile.definitions.setters.items()}
    for name, substitution in krmfile.definitions.substitutions.items():
        values = {marker: reference.name if reference else None for marker, reference in substitution.markers}
        stated["substitution", name] = {"pattern": substitution.pattern, "values": values}
    return stated | {("rule", row.text): {"message": row.message} for row in rule.read(krmfile.root)}


def compare(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Yield what differs in what is stated of one definition, before and after; the ``value`` is what somebody set."""
    for key in sorted({*before, *after} - {_IS_SET}):
        if before.get(key) != after.get(key):
            is_set = key == "default" and (before.get(_IS_SET) or after.get(_IS_SET))
            yield "value" if is_set else key, before.get(key), after.get(key)


def _setter(setter: Setter) -> Mapping[str, object]:
    return {
        **json.loads(json.dumps(setter.schema, default=str), parse_constant=str),  # NaN is not JSON
        "type": full_type(setter.type) or None,
        "description": setter.description or None,
        "enumValues": dict(setter.enum_values) or None,
        "required": setter.required,
        "default": None if setter.must_be_set else setter.shown,
        _IS_SET: setter.is_set,
    }
