"""What a package's setters are now, and the fields that each reaches; and its rules."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.errors import Problem, refuse
from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.document import parse_text, source_of
from packyard.core.yaml.node import Scalar, SequenceNode
from packyard.using.setters.change import read_kpt
from packyard.using.setters.comment import is_marked
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import Binding, defined, is_edited, path_text
from packyard.using.setters.packages import PackageFiles, read_krmfile

if TYPE_CHECKING:
    from packyard.using.setters.rules.rule import Rule


class ListedSetter(NamedTuple):
    """A setter, and the number of fields that it reaches, itself or through substitutions."""

    setter: Setter
    field_count: int


class ListedRule(NamedTuple):
    """A rule, whether it ``holds`` (None while a value that it needs is missing), and what breaks it."""

    rule: "Rule"
    holds: bool | None
    broken: Problem | None

    @property
    def line(self) -> int:
        """The line of the Krmfile where the rule stands."""
        return self.rule.node.source.locate(self.rule.node.start)[0]


class Field(NamedTuple):
    """A field: its place, its path, the text that it shows, and the names from the setter to its own definition."""

    file: str
    line: int
    column: int
    path: str
    value: str
    through: tuple[str, ...]


def list_rules(package: PackageFiles) -> list[ListedRule]:
    """Return the rules in the order of the Krmfile; one that does not fit the definitions is an `InputError`."""
    from packyard.using.setters.rules import rule  # `cfg list-setters` does not need it

    krmfile = read_krmfile(package)
    setters = krmfile.definitions.setters
    rules = rule.read(krmfile.root)
    refuse(problem for item in rules if (problem := item.misfit(setters)))
    return [ListedRule(item, item.holds(setters), item.broken(setters)) for item in rules]


def list_setters(package: PackageFiles, definitions: Definitions | None = None) -> list[ListedSetter]:
    """Return the setters, sorted by name; ``definitions`` are the package's, where they are known already."""
    definitions = definitions or read_krmfile(package).definitions
    defined = (definition for _, definition in _fields(package, definitions))
    counts = Counter(name for definition in defined for name in definitions.setters_of(definition))
    listed_setters = [ListedSetter(setter, counts[name]) for name, setter in definitions.setters.items()]
    return sorted([*listed_setters, *tagged(package)], key=lambda listed: listed.setter.name)


def in_order(listed: Sequence[ListedSetter]) -> list[ListedSetter]:
    """Return setters as people read them: first what is required, then in the order in which their file has them."""
    return sorted(listed, key=lambda item: (not item.setter.required, item.setter.file, item.setter.line))


def _fields(package: PackageFiles, definitions: Definitions) -> Iterator[tuple[Binding, Setter | Substitution]]:
    """Yield the fields that get their values from definitions, each with its own, in the order of the files."""
    for path, data in package.resources.items():
        if is_marked(data):
            documents = parse_text(source_of(data, package.where + path))
            yield from ((bound, definition) for _, bound, definition in defined(documents, definitions))


def tagged(package: PackageFiles) -> list[ListedSetter]:
    """Return the setters in kpt's spelling; their types are those of their fields."""
    kpt_package = read_kpt(package)
    return [ListedSetter(*counted) for counted in kpt_package.setters()] if kpt_package else []


def find_fields(package: PackageFiles, name: str) -> list[Field]:
    """Return the fields that a set of ``name`` writes, in the order of the files."""
    definitions = read_krmfile(package).definitions
    fields = [
        _field(bound.node, bound.path, through)
        for bound, definition in _fields(package, definitions)
        if (through := _way(definitions, definition, name))
    ]
    return fields + _tagged(package, name)


def list_edited(package: PackageFiles) -> list[Field]:
    """Return the fields that somebody edited by hand, in the order of the files."""
    definitions = read_krmfile(package).definitions
    return [
        _field(bound.node, bound.path, (definition.name,))
        for bound, definition in _fields(package, definitions)
        if isinstance(bound.node, Scalar) and is_edited(bound.node.value, definition, definitions)
    ]


def _field(node: Scalar | SequenceNode, path: tuple[Step, ...], through: tuple[str, ...]) -> Field:
    line, column = node.source.locate(node.start)
    shown = node.value if isinstance(node, Scalar) else node.lexeme
    return Field(node.source.name, line, column, path_text(path), shown, through)


def _tagged(package: PackageFiles, name: str) -> list[Field]:
    """Return the fields that a comment in kpt's spelling ties to ``name``."""
    kpt_package = read_kpt(package)
    return [
        _field(field.node, field.path, (name,) if field.pattern.sole_name == name else (name, field.pattern.text))
        for field in (kpt_package.tagged if kpt_package else ())
        if name in field.pattern.names
    ]


def _way(definitions: Definitions, definition: Setter | Substitution, name: str) -> tuple[str, ...]:
    """Return the names from the setter to a definition, both included; empty where it does not lead there."""
    if isinstance(definition, Setter):
        return (name,) if definition.name == name else ()
    if name not in definitions.setters_of(definition):
        return ()
    for _, reference in definition.markers:
        target = definitions.resolve(reference) if reference else None
        way = _way(definitions, target, name) if target else ()
        if way:
            return (*way, definition.name)
    return ()
