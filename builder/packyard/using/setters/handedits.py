"""Fields that were edited by hand: what they say is not what the setters of their comments say.

replicas: 5 # {"$openapi":"WORKERS"}        while the Krmfile says WORKERS is 2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packyard.core.errors import InputError
from packyard.core.yaml.document import scalars
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.span import expanded
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import FieldChange, defined_in, path_text
from packyard.using.setters.packages import PackageFiles, read_krmfile


class HandEdit(NamedTuple):
    """A field with its place, its path and its text, and the text that the definition ``name`` makes it."""

    name: str
    file: str
    line: int
    path: str
    text: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: {self.path} is {self.text!r}, edited by hand; {self.name} is {self.expected!r}"
        )


def find(package: PackageFiles) -> Iterator[HandEdit]:
    """Yield the edited fields of a package; a field of a setter that is still to be set may hold anything."""
    definitions = read_krmfile(package).definitions
    for path, data in package.resources.items():
        for bound, definition in defined_in(data, package.where + path, definitions):
            node, value = bound.node, expected(definition, definitions)
            listed = [] if isinstance(node, Scalar) else scalars(expanded(node))
            text = node.value if isinstance(node, Scalar) else [scalar.value for scalar in listed]
            if value is not None and text != value and not _is_open(definition, definitions):
                line, _ = node.source.locate(node.start)
                shown = _shown(text), _shown(value)
                yield HandEdit(definition.name, node.source.name, line, path_text(bound.path), *shown)


def overwritten(changes: Iterable[FieldChange], definitions: Definitions) -> Iterator[HandEdit]:
    """Yield the edited fields that a set of their setters overwrites, by the definitions of before."""
    for change in changes:
        if change.old == change.new:
            continue
        definition = definitions.setters.get(change.name) or definitions.substitutions.get(change.name)
        value = expected(definition, definitions) if definition else None
        if definition and isinstance(value, str) and change.old != value and not _is_open(definition, definitions):
            yield HandEdit(change.name, change.file, change.line, change.path, change.old, value)


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


def _shown(text: str | list[str]) -> str:
    return text if isinstance(text, str) else ", ".join(text)
