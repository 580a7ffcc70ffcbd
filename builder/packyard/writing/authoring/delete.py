"""Deleting a setter or a substitution: its definition, and every comment that refers to it.

What `create` added goes again, byte for byte; other comments, and the values of the fields, stay.
"""

from functools import partial

from packyard.core.errors import InputError, NotHereError
from packyard.core.yaml.document import find_comments
from packyard.core.yaml.edit import Edit, exchange
from packyard.core.yaml.node import Document, MappingNode
from packyard.core.yaml.splice import remove
from packyard.using.setters import comment
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import place
from packyard.writing.authoring.definition import entries


def delete(package: PackageFiles, kind: str, name: str) -> Plan:
    """Plan to delete a setter, or a substitution without its setters, that no substitution uses."""
    krmfile = read_krmfile(package)
    definitions = krmfile.definitions
    definition = definitions.resolve(DefinitionRef(kind, name))
    if definition is None:
        raise NotHereError(f'{kind} "{name}" does not exist')
    for parent in definitions.substitutions.values():
        if any(reference and definitions.resolve(reference) is definition for _, reference in parent.markers):
            raise NotHereError(f'{kind} "{name}" is used in substitution "{parent.name}": delete that first')
    change = partial(_take_comments_out, definitions=definitions, definition=definition)
    files = place.rewrite(package, comment.is_marked, change)
    key = next(iter(entries(definition)))
    recorded = krmfile.edited(package.krmfile, _take_definition_out(krmfile, key))
    if recorded is not None:
        files[package.name] = recorded
    return Plan(files=files)


def _take_definition_out(krmfile: Krmfile, key: str) -> list[Edit]:
    """Remove a definition, and with the last one the mappings that held it."""
    way: list[tuple[MappingNode, str]] = []
    node: MappingNode | None = krmfile.root
    for name in ("openAPI", "definitions", key):
        if not isinstance(node, MappingNode):
            raise InputError(f"{krmfile.source.name}: {name} cannot be removed where it stands")
        way.append((node, name))
        node = node.mapping(name)
    while len(way) > 1 and len(way[-1][0].entries) == 1:
        way.pop()
    parent, name = way[-1]
    if len(parent.entries) == 1:
        return exchange(parent, "{}", {})
    return remove(parent, {name})


def _take_comments_out(document: Document, definitions: Definitions, definition: Setter | Substitution) -> list[Edit]:
    edits: dict[int, Edit] = {}
    for note in find_comments(document.root):
        reference = comment.parse(note.text)
        if reference and definitions.resolve(reference) is definition:
            edits[note.start] = place.take_out(document.source, note)
    return list(edits.values())
