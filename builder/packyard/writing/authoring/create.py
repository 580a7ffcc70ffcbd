"""Creating setters and substitutions: which fields get the comment, and what the Krmfile gets.

    create_setter(package, Setter("N", "3"), field="spec.replicas")

    spec:                    spec:                           io.k8s.cli.setters.N:
      replicas: 3              replicas: 3 # {"$openapi":"N"}      x-k8s-cli: {setter: {name: N, value: "3"}}

Fields are chosen as kustomize 3.8.7 chooses them: by the end of their dotted path, and by their text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError, NotHereError
from packyard.core.yaml.document import scalars
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Child, Document, Entry, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.splice import add
from packyard.using.setters import comment
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import definition, place, schemafile


@dataclass(frozen=True, slots=True)
class Creation:
    """What is created: the new files, the number of fields bound, and the setters of a substitution, with their values.

    ``former`` are the names that the fields were bound to.
    """

    plan: Plan
    fields: int
    setters: Mapping[str, str]
    former: tuple[str, ...]


def create_setter(package: PackageFiles, setter: Setter, field: str = "") -> Creation:
    """Bind the fields that match ``field`` and the setter's value, and define it; an empty text matches all."""
    krmfile = read_krmfile(package)
    _check_new(krmfile.definitions, setter.name)
    schemafile.check_types(setter.schema, setter.type)
    if not field and not setter.value:
        raise InputError("an empty value is that of many fields: say which by --field PATH")
    binder = _Binder(package, setter, setter.value, field)
    return binder.finish(krmfile, [setter._replace(values=binder.values)], {})


def create_substitution(package: PackageFiles, name: str, pattern: str, value: str, field: str = "") -> Creation:
    """Bind the fields that match and show ``value``, define the substitution, and the setters that it lacks."""
    krmfile = read_krmfile(package)
    definitions = krmfile.definitions
    _check_new(definitions, name)
    markers = _markers(name, pattern)
    derived = _derive(pattern, markers, value)
    inner = {marker: marker[2:-1] for marker in markers}
    kinds = {key: "substitution" if key in definitions.substitutions else "setter" for key in inner.values()}
    references = ((marker, DefinitionRef(kinds[inner[marker]], inner[marker])) for marker in markers)
    substitution = Substitution(name, pattern, tuple(references))
    setters = {key: Setter(key, derived[marker]) for marker, key in inner.items() if kinds[key] == "setter"}
    whole = Definitions({**setters, **definitions.setters}, {**definitions.substitutions, name: substitution})
    whole.setters_of(substitution)  # refuses one that contains itself
    created = [setter for key, setter in setters.items() if key not in definitions.setters]
    for setter in created:
        _check_new(definitions, setter.name)
    binder = _Binder(package, substitution, value, field)
    return binder.finish(krmfile, [substitution, *created], {setter.name: setter.value for setter in created})


def _check_new(definitions: Definitions, name: str) -> None:
    """Refuse a name that is taken, or that no comment can refer to."""
    if not name or any(sign in name for sign in "/%\n"):  # parts of a URL's path: what refers to it is lost
        raise InputError(f"no comment can refer to the name {name!r}: use letters, digits, '-', '_' and '.'")
    for kind in ("setter", "substitution"):
        if definitions.resolve(DefinitionRef(kind, name)):
            raise NotHereError(f'{kind} "{name}" exists already: choose another name, or delete it first')


class _Binder:
    """The comments that the files of a package get."""

    def __init__(self, package: PackageFiles, definition: Setter | Substitution, value: str, field: str) -> None:
        self.package, self.value, self.field = package, value, field
        self.is_setter = isinstance(definition, Setter)
        self.is_array = isinstance(definition, Setter) and definition.is_list
        self.text = comment.write(definition.name)
        words = [] if self.is_array else value.split()
        self.mark = (words or [field.rpartition(".")[2]])[0].encode()
        self.count = 0
        self.values: tuple[str, ...] | None = None  # of the lists that were bound
        self.former: dict[str, None] = {}
        self.files = place.rewrite(package, self._may_show, self._bind_document)

    def finish(
        self, krmfile: Krmfile, created: Iterable[Setter | Substitution], setters: Mapping[str, str]
    ) -> Creation:
        """Add the definitions, and return all that was done."""
        entries = {key: tree for item in created for key, tree in definition.entries(item).items()}
        edits = add(krmfile.root, ("openAPI", "definitions"), entries)
        recorded = krmfile.edited(self.package.krmfile, edits)
        if recorded is not None:
            self.files[self.package.name] = recorded
        return Creation(Plan(files=self.files), self.count, setters, tuple(self.former))

    def _matches(self, child: Child, path: str) -> bool:
        """Say whether a part at a dotted path is to be bound: a scalar, or a list that ``field`` names.

        One whose key has a comment already is left alone, as in kustomize 3.8.7, which marks the keys of lists for
        substitutions too, though nothing reads that.
        """
        value = child.value
        if not path.endswith(self.field):
            return False
        if isinstance(value, Scalar):
            return not self.is_array and self.value in ("", value.value)
        if not isinstance(value, SequenceNode) or not isinstance(child, Entry) or child.comment is not None:
            return False
        if value.comment and place.is_binding(value.comment.text):
            return False
        return self.is_array or (not self.is_setter and bool(self.field) and not value.flow)

    def _may_show(self, data: bytes) -> bool:
        return self.mark in data or b"\\" in data  # a file without the value may be a template, and no YAML

    def _bind_document(self, document: Document) -> list[Edit]:
        matching = [child for child, path in _fields(document.root, "") if self._matches(child, path)]
        self.count += len(matching)
        return [edit for child in matching for edit in self._bind(child)]

    def _bind(self, child: Child) -> list[Edit]:
        if isinstance(child.value, SequenceNode):
            assert isinstance(child, Entry)
            if self.is_array:
                self._same_values(child.value)
            return place.bind_list(child, self.text)
        if child.value.comment and (reference := comment.parse(child.value.comment.text)):
            self.former[reference.name] = None
        return place.bind(child, self.text)

    def _same_values(self, node: SequenceNode) -> None:
        values = tuple(scalar.value for scalar in scalars(node))
        if len(values) < len(node.items):
            message = "the list holds more than plain values, which a setter would replace"
            raise InputError(node.problem(message, "choose another by a longer --field"))
        if self.values is not None and values != self.values:
            raise NotHereError(
                "setters can only be created for fields with same values, encountered different array values "
                f"for specified field path: [{' '.join(values)}], [{' '.join(self.values)}]"
            )
        self.values = values


def _fields(node: Node | None, path: str) -> Iterator[tuple[Child, str]]:
    """Yield every entry and item with its dotted path; the index of an item is left out."""
    children: list[tuple[Child, str]] = []
    if isinstance(node, MappingNode):
        children = [(entry, f"{path}.{entry.name}") for entry in node.entries if isinstance(entry.key, Scalar)]
    elif isinstance(node, SequenceNode):
        children = [(item, path) for item in node.items if isinstance(item, Item)]
    for child, below in children:
        yield child, below
        yield from _fields(child.value, below)


# What a substitution's markers stand for.


def _markers(name: str, pattern: str) -> list[str]:
    markers = re.findall(r"\$\{[^}\n]*\}", pattern)
    if not markers:
        raise InputError("unable to find setter or substitution names in pattern, setter names must be enclosed in ${}")
    if f"${{{name}}}" in markers:
        raise InputError(f"setters must have different name than the substitution: {name}")
    for marker in markers:
        for earlier in markers:
            if marker != earlier and marker in earlier:
                raise InputError(f"markers {marker} is substring of {earlier}, no marker should be substring of other")
    return markers


def _derive(pattern: str, markers: list[str], value: str) -> dict[str, str]:
    """Return what each marker must stand for so that the pattern yields the value."""
    literals = re.split(r"\$\{[^}\n]*\}", pattern)
    for index in range(1, len(markers)):
        if not literals[index]:
            raise InputError(
                f"markers {markers[index - 1]} and {markers[index]} are found to have no delimiters between them, "
                "pre-create setters and try again"
            )
    # Each text ends where the literal behind it stands first, whatever that leaves to the others.
    texts = (f"(?>(.*?){re.escape(literal)})" if literal else "(.+)" for literal in literals[1:])
    match = re.fullmatch("".join([re.escape(literals[0]), *texts]), value, re.DOTALL)
    if not match:
        raise InputError("unable to derive values for markers, create setters for all markers and then try again")
    derived: dict[str, str] = {}
    for marker, text in zip(markers, match.groups(), strict=True):
        if derived.setdefault(marker, text) != text:
            raise InputError(f"marker {marker} is found to have different values {derived[marker]} and {text}")
    return derived
