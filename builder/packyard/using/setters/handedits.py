"""Fields that were edited by hand: what they say is not what the setters of their comments say.

replicas: 5 # {"$openapi":"WORKERS"}        while the Krmfile says WORKERS is 2
"""

from collections.abc import Iterable, Iterator

from packyard.core.errors import InputError
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import FieldChange


def overwritten(changes: Iterable[FieldChange], definitions: Definitions) -> Iterator[FieldChange]:
    """Yield the edited fields that a set of their setters overwrites, by the definitions of before."""
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
