"""Fields that were edited by hand: what they say is not what the setters of their comments say.

replicas: 5 # {"$openapi":"WORKERS"}        while the Krmfile says WORKERS is 2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packyard.core.errors import InputError
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import FieldChange


def overwritten(changes: Iterable[FieldChange], definitions: Definitions) -> Iterator[FieldChange]:
    """Yield the changes by which a set of setters overwrites edited fields, by the definitions of before."""
    for change in changes:
        if change.old == change.new:
            continue
        definition = definitions.setters.get(change.name) or definitions.substitutions.get(change.name)
        value = expected(definition, definitions) if definition else None
        if definition and isinstance(value, str) and change.old != value and not _is_open(definition, definitions):
            yield change


def expected(definition: Setter | Substitution, definitions: Definitions) -> str | list[str] | None:
    """Return the value that a set to the current value writes; None where the definition is broken."""
    if isinstance(definition, Setter):
        return list(definition.values or ()) if definition.is_list or definition.values else definition.text
    try:
        return definitions.expand(definition)
    except InputError:
        return None


def _is_open(definition: Setter | Substitution, definitions: Definitions) -> bool:
    """Say whether a setter is still to be set that a definition is made of."""
    return any(definitions.setters[name].must_be_set for name in definitions.setters_of(definition))
