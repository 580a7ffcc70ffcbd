"""Every field that a setter reaches, and the substitutions on the way there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packyard.setters import binding as bindings
from packyard.setters import comment
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.setters.fieldedits import sets
from packyard.setters.packages import PackageFiles, read_krmfile
from packyard.yaml.document import parse_text, source_of
from packyard.yaml.node import Scalar, Source


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its place, its path, the text that it shows, and the names from the setter to its own definition."""

    file: str
    line: int
    column: int
    path: str
    value: str
    through: tuple[str, ...]


def find_fields(package: PackageFiles, name: str) -> list[Field]:
    """Return the fields that a set of ``name`` writes, in the order of the files."""
    definitions = read_krmfile(package).definitions
    found: list[Field] = []
    for path, data in package.resources.items():
        if comment.is_marked(data):
            source = source_of(data, package.where + path)
            found += _in_file(source, definitions, name)
    return found + _tagged(package, name)


def _tagged(package: PackageFiles, name: str) -> list[Field]:
    """Return the fields that a comment in kpt's spelling ties to ``name``."""
    if package.kptfile is None:
        return []
    from packyard.setters.kpt.kptpackage import KptPackage

    found = []
    for field in KptPackage(package).tagged:
        if field.pattern.uses((name,)):
            line, column = field.node.source.locate(field.node.start)
            shown = field.node.value if isinstance(field.node, Scalar) else field.node.lexeme
            way = (name,) if field.pattern.sole_name == name else (name, field.pattern.text)
            found.append(Field(field.node.source.name, line, column, bindings.path_text(field.path), shown, way))
    return found


def _in_file(source: Source, definitions: Definitions, name: str) -> Iterator[Field]:
    for document in parse_text(source, around=comment.MARKS):
        for bound in bindings.find(document):
            definition = definitions.resolve(bound.reference)
            if definition is None or not sets(definition, bound.node):
                continue
            through = _way(definitions, definition, name)
            if through:
                line, column = source.locate(bound.node.start)
                shown = bound.node.value if isinstance(bound.node, Scalar) else bound.node.lexeme
                yield Field(source.name, line, column, bindings.path_text(bound.path), shown, through)


def _way(definitions: Definitions, definition: Setter | Substitution, name: str) -> tuple[str, ...]:
    """Return the names from the setter to a definition, both included; empty where it does not lead there."""
    if isinstance(definition, Setter):
        return (name,) if definition.name == name else ()
    if not definitions.reached(definition, (name,)):
        return ()
    for _, reference in definition.markers:
        target = definitions.resolve(reference) if reference else None
        way = _way(definitions, target, name) if target else ()
        if way:
            return (*way, definition.name)
    return ()
