"""The schemas of objects: those of each version of Kubernetes, and those of operators for their resources.

Kubernetes' own are ``kubernetes_schemas.json``, which ``tests/tools/kubernetes_schemas.py`` makes from the strict ones
of kubernetes-validate; the operators' are ``custom_resources.json``, which ``tests/tools/custom_resources.py`` makes
from the definitions in their modules. Both refuse unknown fields. They are compiled by jsonschema-rs.
"""

import json
import pathlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from packyard import __version__
from packyard.core.errors import UnavailableError, is_a_letter_away, suggest
from packyard.core.kubernetes import structural
from packyard.core.kubernetes.pods import Path

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, Registry, ValidationError

KUBERNETES = "Kubernetes"
#: The oldest Kubernetes of which objects are checked unless versions are named.
OLDEST = (1, 28)
_URI = "urn:definitions"
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}

_BOUNDS = {"minimum": "at least", "maximum": "at most"}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What a schema rejects in a value: the path from the value that was checked, and why.

    ``field`` is an unknown or a missing key of the mapping at ``path``. Where nothing but its quotes is wrong with a
    value, ``quotes`` says whether it needs them. A null ``counts_as_missing``: the API server drops it. An unknown
    field ``is_slip`` where a known one is a letter away. What only an operator would refuse ``is_guess``.
    """

    rule: str
    path: Path
    message: str
    hint: str = ""
    field: str = ""
    quotes: bool | None = None
    counts_as_missing: bool = False
    is_slip: bool = False
    is_guess: bool = False


@dataclass(frozen=True, eq=False)
class Judge:
    """The schemas of one version of Kubernetes or of an operator; ``kinds`` are those that it serves.

    ``kinds`` and ``parts``, which custom resources share with Kubernetes, are the numbers of definitions. What an
    author gives ``is_given``: it is the version that the objects are for. ``rules`` are an author's own rules of lint.
    """

    name: str
    version: str
    kinds: Mapping[str, str]
    definitions: "Definitions"
    parts: Mapping[str, str]
    is_given: bool = False
    rules: Sequence[Any] = ()

    def without(self, kinds: Collection[str]) -> "Judge":
        """Return the judge without those of its kinds, in any version, that others serve: ``ray.io RayJob``."""
        remaining = {name: number for name, number in self.kinds.items() if unversioned(name) not in kinds}
        return replace(self, kinds=remaining, rules=())

    def faults(self, definition: str, value: object, called: str = "the object") -> Iterator[Fault]:
        """Yield everything that a definition rejects in a value; messages call the value itself ``called``."""
        validator = self.definitions.validator(definition)
        if validator.is_valid(value):  # several times as fast as to look for errors
            return
        for error in validator.iter_errors(value):
            yield from _faults(error, self.definitions.whole, value, _path(value, error.instance_path), called)


class Definitions:
    """The definitions of a file by their numbers; each is compiled once, when it is first asked for."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self.whole = {"$defs": schemas}
        self.validator = cache(self._compile)

    def _compile(self, number: str) -> "Draft202012Validator":
        from jsonschema_rs import Draft202012Validator  # of the verbs that lint only

        return Draft202012Validator({"$ref": f"{_URI}#/$defs/{number}"}, registry=self._registry)

    @cached_property
    def _registry(self) -> "Registry":
        from jsonschema_rs import Registry

        return Registry([(_URI, self.whole)])


def choose(versions: Sequence[str] = (), judges: Sequence[Judge] = ()) -> list[Judge]:
    """Return judges for these versions of Kubernetes (all from `OLDEST` where none is named), and for all operators.

    Kinds that ``judges`` know are judged by these alone.
    """
    recent = (version for version in _kubernetes() if _number(version) >= OLDEST)
    kinds = kinds_of(judges)
    carried = [judge.without(kinds) for judge in operators()] if kinds else operators()
    return [*(kubernetes(version) for version in versions or recent), *judges, *carried]


def of_definitions(name: str, definitions: Iterable[Mapping[str, Any]]) -> Judge:
    """Return the judge of what CustomResourceDefinitions of a file serve."""
    schemas_by_kind = {
        kind: structural.translate(schema) for item in definitions for kind, schema in structural.kinds(item)
    }
    numbers = {kind: str(number) for number, kind in enumerate(schemas_by_kind)}
    schemas = {numbers[kind]: schema for kind, schema in schemas_by_kind.items()}
    return Judge(name, "", numbers, Definitions(schemas), {}, is_given=True)


def kinds_of(judges: Iterable[Judge]) -> set[str]:
    """Return the kinds that judges have, each with its group alone."""
    return {unversioned(kind) for judge in judges for kind in judge.kinds}


def unversioned(kind: str) -> str:
    """Return a kind with its group alone: ``ray.io RayJob``."""
    version, _, name = kind.partition(" ")
    return f"{version.rpartition('/')[0]} {name}"


def kubernetes(version: str) -> Judge:
    """Return the judge of one version of Kubernetes, ``1.34``."""
    judges = _kubernetes()
    if version not in judges:
        first, *_, last = judges
        raise UnavailableError(
            f"there are no schemas of Kubernetes {version!r}: packyard {__version__} has {first} to {last}"
        )
    return judges[version]


@cache
def operators() -> tuple[Judge, ...]:
    """Return a judge for each version of each operator, oldest first."""
    return tuple(_read("custom_resources.json"))


@cache
def _kubernetes() -> dict[str, Judge]:
    return {judge.version: judge for judge in _read("kubernetes_schemas.json")}


def _read(name: str) -> Iterator[Judge]:
    """Yield the judges of a file, the oldest versions first."""
    table = json.loads(pathlib.Path(__file__).with_name(name).read_bytes())
    kinds: dict[tuple[str, str], dict[str, str]] = {}
    for kind, by_name in table["kinds"].items():
        for judge, versions in by_name.items():
            for version, number in versions.items():
                kinds.setdefault((judge, version), {})[kind] = number
    definitions = Definitions(table["$defs"])
    for (judge, version), served in sorted(kinds.items(), key=lambda item: _number(item[0][1])):
        parts = {part: versions[version] for part, versions in table.get("parts", {}).items()}
        yield Judge(judge, version, served, definitions, parts)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _path(value: Any, reported: Sequence[str | int]) -> Path:
    """Return a path as jsonschema-rs reports it, but with keys of digits as they are: it makes numbers of them."""
    path: list[str | int] = []
    for step in reported:
        if isinstance(step, int) and isinstance(value, dict):
            step = next(key for key in value if key.removeprefix("+").isdecimal() and int(key) == step)
        path.append(step)
        value = value[step]
    return tuple(path)


def _faults(error: "ValidationError", schema: Schema, root: object, path: Path, called: str) -> Iterator[Fault]:
    """Translate an error of jsonschema-rs in an object."""
    kind: Any = error.kind
    value: object = error.instance
    what, shown = last(path) or called, _shown(value)
    holder = _at(schema, error.schema_path[:-1])
    expected = holder.get("title")
    if kind.name == "propertyNames":
        name = kind.error.instance
        yield Fault("wrong-value", path, f"{what} has the key {name!r}", f"must be {expected}", name)
    elif expected:
        yield Fault("wrong-value", path, f"{what} is {shown}", f"must be {expected}")
    elif kind.name in ("additionalProperties", "falseSchema"):  # of a mapping with fields, and of one without any
        fields = holder.get("properties", {})
        for name in [name for name in _at(root, path) if name not in fields]:
            hint, is_slip = suggest(name, fields), any(is_a_letter_away(name, field) for field in fields)
            yield Fault("unknown-field", path, f"{what} has no field {name!r}", hint, name, is_slip=is_slip)
    elif kind.name == "required":
        yield Fault("missing-field", path, f"{what} lacks {kind.property!r}", "", kind.property)
    elif kind.name in ("type", "oneOf", "anyOf"):
        types = _types(kind)
        if value is None and "null" in types:  # more than one alternative accepts it
            return
        expected = " or ".join(_WORDS[name] for name in _WORDS if name in types)
        quotes = _quotes(value, types)
        hint = {True: "put it in quotes", False: "remove the quotes", None: ""}[quotes]
        message = f"{what} is {shown} where {expected} is expected"
        yield Fault("wrong-type", path, message, hint, quotes=quotes, counts_as_missing=value is None)
    elif kind.name == "enum":
        choices = [str(choice) for choice in kind.options if choice]
        hint = suggest(str(value), choices) or f"must be one of {', '.join(choices)}"
        yield Fault("wrong-value", path, f"{what} is {shown}", hint)
    elif kind.name in _BOUNDS:
        yield Fault("wrong-value", path, f"{what} is {shown}", f"must be {_BOUNDS[kind.name]} {kind.limit}")
    elif kind.name == "pattern":
        yield Fault("wrong-value", path, f"{what} is {shown}, which does not match {kind.pattern!r}")
    else:
        yield Fault("wrong-value", path, f"{what}: {error.message}")


def _types(kind: Any) -> set[str]:
    if kind.name == "type":
        return set(kind.types)
    return {name for errors in kind.context for error in errors for name in _types(error.kind)} or {"null"}


def _quotes(value: object, types: set[str]) -> bool | None:
    """Say whether a value needs quotes or must have none; None where quotes do not help."""
    if isinstance(value, str) and "string" not in types and re.fullmatch(r"[0-9.]+|true|false", value):
        return False
    if isinstance(value, bool | int | float) and "string" in types:
        return True
    return None


def _at(schema: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        schema = schema[int(step) if isinstance(schema, list) else str(step)]  # a key of digits comes as a number
    return schema


def last(path: Path) -> str:
    """Name a value by the end of its path, ``containers[0]``; the name at an empty path is empty."""
    indices = ""
    for step in reversed(path):
        if isinstance(step, str):
            return step + indices
        indices = f"[{step}]{indices}"
    return ""


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
