"""What a package's setters are now, one row each with the number of fields that they reach; and its rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from packyard.dataclass import dataclass
from packyard.errors import Problem, refuse
from packyard.setters import binding as bindings
from packyard.setters import comment
from packyard.setters.binding import Binding
from packyard.setters.definition import Definitions, Setter
from packyard.setters.exact import is_number
from packyard.setters.fieldedits import sets
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.yaml.document import decode, parse_shared
from packyard.yaml.node import Scalar, Source
from packyard.yaml.sharing import once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packyard.setters.rules.rule import Rule

#: kpt's names of types, which are those of YAML, in the words of a definition.
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}


@dataclass(frozen=True, slots=True)
class Row:
    """One setter of one package; texts are as in its definition.

    ``values`` are the items of a list setter, None for any other; ``count`` is that of the fields that it reaches,
    itself or through substitutions; ``schema`` holds every OpenAPI keyword of the definition.
    """

    name: str
    value: str
    values: tuple[str, ...] | None
    default: str | None
    type: str
    required: bool
    is_set: bool
    set_by: str
    description: str
    constraint: str
    schema: Mapping[str, object]
    example: str | None
    count: int
    must_be_set: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule between setters; ``holds`` is None while a value that it needs is missing."""

    rule: str
    message: str
    setters: tuple[str, ...]
    holds: bool | None
    broken: Problem | None
    file: str
    line: int


def list_rules(package: PackageFiles) -> list[RuleRow]:
    """Return a row per rule, in the order of the Krmfile; one that does not fit the definitions is an `InputError`."""
    from packyard.setters.rules import rule  # for its dataclasses, slow to import, `cfg list-setters` has no use

    krmfile = read_krmfile(package)
    return rule_rows(rule.read(krmfile.root), krmfile.definitions, package.where + package.name)


def rule_rows(found: Sequence[Rule], definitions: Definitions, file: str) -> list[RuleRow]:
    """Return a row per rule of a file, as `list_rules` does."""
    setters = definitions.setters
    refuse(problem for item in found if (problem := item.misfit(setters)))
    return [
        RuleRow(
            rule=item.text,
            message=item.message,
            setters=item.names,
            holds=item.holds(setters),
            broken=item.broken(setters),
            file=file,
            line=item.problem("").line,
        )
        for item in found
    ]


#: The counts of files that were met before, by the bytes of their Krmfile and their own.
Counts = dict[tuple[bytes, bytes], Counter[str]]


def list_setters(
    package: PackageFiles, definitions: Definitions | None = None, known: Counts | None = None
) -> list[Row]:
    """Return a row per setter, sorted by name; ``definitions`` are the package's, where they are known already.

    ``known`` is one for all packages of a run: what is learned of a file is kept there for its copies.
    """
    definitions = definitions or read_krmfile(package).definitions
    counts = count_fields(package, definitions, known)
    rows = [_row(setter, counts[name], package) for name, setter in definitions.setters.items()]
    return sorted([*rows, *_tagged_rows(package)], key=lambda row: row.name)


def count_fields(package: PackageFiles, definitions: Definitions, known: Counts | None = None) -> Counter[str]:
    """Count, per setter, the fields that a set of it would write."""
    known = {} if known is None else known
    counts: Counter[str] = Counter()
    for path, data in package.resources.items():
        if comment.is_marked(data):
            key = (package.krmfile, data)
            if key not in known:
                known[key] = _count_in(package.where + path, data, definitions)
            counts.update(known[key])
    return counts


def _count_in(name: str, data: bytes, definitions: Definitions) -> Counter[str]:
    text = decode(data, name)[1]
    counts: Counter[str] = Counter()
    for bound, count in once(("bound", text), lambda: _bound(Source(name, text))):
        definition = definitions.resolve(bound.reference)
        if definition is not None and sets(definition, bound.node):
            for setter in definitions.setters_of(definition):
                counts[setter] += count
    return counts


def _bound(source: Source) -> list[tuple[Binding, int]]:
    """Return the bound fields of a file, of those that nothing here tells apart the first, and their number."""
    found: dict[tuple[str, str, bool], list[Binding]] = {}
    for document in parse_shared(source, around=comment.MARKS):
        for bound in bindings.find(document):
            key = (bound.reference.kind, bound.reference.name, isinstance(bound.node, Scalar))
            found.setdefault(key, []).append(bound)
    return [(alike[0], len(alike)) for alike in found.values()]


def _tagged_rows(package: PackageFiles) -> list[Row]:
    """Return a row for each setter in kpt's spelling; its type is that of its fields."""
    if package.kptfile is None:
        return []
    from packyard.setters.kpt.package import KptPackage

    rows = []
    for found, place in KptPackage(package).setters():
        setter = Setter(
            found.name, found.value, type=_TYPES.get(found.type, found.type), file=place.file, line=place.line
        )
        rows.append(_row(setter, found.count, package))
    return rows


def _row(setter: Setter, count: int, package: PackageFiles) -> Row:
    return Row(
        name=setter.name,
        value=f"[{','.join(setter.values)}]" if setter.values else setter.value,
        values=(setter.values or ()) if setter.is_list else None,
        default=setter.default,
        type=setter.type,
        required=setter.required,
        is_set=setter.is_set,
        set_by=setter.set_by,
        description=setter.description,
        constraint=_constraint(setter),
        schema=setter.schema,
        example=setter.example,
        count=count,
        must_be_set=setter.must_be_set,
        file=setter.file or package.where + package.name,
        line=setter.line,
    )


def _constraint(setter: Setter) -> str:
    """Say in short what the definition allows: ``1 to 8``, ``small|large``; patterns are for ``schema``."""
    if setter.enum_values:
        return "|".join(setter.enum_values)
    schema = setter.schema
    choices = schema.get("enum")
    if isinstance(choices, list):
        return "|".join(str(choice) for choice in choices)
    parts = []
    low, high = (bound if is_number(bound) else None for bound in (schema.get("minimum"), schema.get("maximum")))
    if low is not None and high is not None:
        parts.append(f"{low} to {high}")
    elif low is not None:
        parts.append(f"at least {low}")
    elif high is not None:
        parts.append(f"at most {high}")
    if "format" in schema:
        parts.append(str(schema["format"]))
    return ", ".join(parts)
