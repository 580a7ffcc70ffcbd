"""The schemas of objects: those of each version of Kubernetes, and those of operators for their resources.

Kubernetes' own are the strict schema files of kubernetes-validate; the operators' are ``custom_resources.json``, which
``tests/tools/custom_resources.py`` makes from the definitions in their modules. Both refuse unknown fields. They are
compiled by jsonschema-rs. Both packages are the extra ``check``; `missing` names those that are not installed.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from packyard.core.errors import UnavailableError, suggest
from packyard.core.kubernetes.pods import Path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

KUBERNETES = "Kubernetes"
#: The oldest Kubernetes of which objects are checked unless versions are named.
OLDEST = (1, 28)
EXTRA = "pip install 'packyard[check]'"
_FOLDER = re.compile(r"v(\d+)\.(\d+)\.\d+-local-strict\Z")
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What a schema rejects in a value: the path from the value that was checked, and why.

    ``field`` is an unknown or a missing key of the mapping at ``path``. Where nothing but its quotes is wrong with a
    value, ``quotes`` says whether it needs them. A null ``counts_as_missing``: the API server drops it.
    """

    rule: str
    path: Path
    message: str
    hint: str = ""
    field: str = ""
    quotes: bool | None = None
    counts_as_missing: bool = False


class Judge:
    """The schemas of one version of Kubernetes or of an operator; ``kinds`` are those that it serves."""

    def __init__(self, name: str, version: str, kinds: Mapping[str, str], definitions: Mapping[str, Schema]) -> None:
        self.name = name
        self.version = version
        self.kinds = kinds
        self._definitions = definitions
        self._compiled: dict[str, tuple[Schema, Any]] = {}
        self._references: dict[str, list[str]] = {}

    def faults(self, definition: str, value: object, called: str = "the object") -> Iterator[Fault]:
        """Yield everything that a definition rejects in a value; messages call the value itself ``called``."""
        if definition not in self._compiled:
            self._compiled[definition] = self._compile(definition)
        schema, validator = self._compiled[definition]
        if validator.is_valid(value):  # several times as fast as to look for errors
            return
        for error in validator.iter_errors(value):
            yield from _faults(error, schema, _path(value, error.instance_path), called)

    def _compile(self, definition: str) -> tuple[Schema, Any]:
        """Compile a definition with those that it refers to: five times faster than with all."""
        import jsonschema_rs

        needed: dict[str, Schema] = {}
        todo = [definition]
        while todo:
            name = todo.pop()
            if name not in needed:
                needed[name] = self._definitions[name]
                if name not in self._references:
                    self._references[name] = list(_references(needed[name]))
                todo += self._references[name]
        schema = {"$defs": needed, "$ref": f"#/$defs/{definition}"}
        return schema, jsonschema_rs.Draft202012Validator(schema)


def missing() -> list[str]:
    """Return the packages of the extra that are not installed."""
    return [name for name in ("jsonschema-rs", "kubernetes-validate") if find_spec(name.replace("-", "_")) is None]


def choose(versions: Sequence[str] = ()) -> list[Judge]:
    """Return judges for these versions of Kubernetes (all from `OLDEST` where none is named), and for all operators."""
    recent = [f"{major}.{minor}" for major, minor in sorted(_folders()) if (major, minor) >= OLDEST]
    return [*(kubernetes(version) for version in versions or recent), *operators()]


def kubernetes_versions() -> list[str]:
    """Return the versions of Kubernetes whose schemas are installed, oldest first."""
    return [f"{major}.{minor}" for major, minor in sorted(_folders())]


@cache
def kubernetes(version: str) -> Judge:
    """Return the judge of one version of Kubernetes, ``1.34``."""
    major, _, minor = version.partition(".")
    folder = _folders().get((int(major), int(minor))) if major.isdecimal() and minor.isdecimal() else None
    if folder is None:
        known = kubernetes_versions()
        raise UnavailableError(
            f"there are no schemas of Kubernetes {version!r}: the installed kubernetes-validate has "
            f"{known[0]} to {known[-1]}"
        )
    definitions = json.loads((folder / "_definitions.json").read_bytes())["$defs"]
    kinds = {
        f"{'/'.join(filter(None, (kind['group'], kind['version'])))} {kind['kind']}": name
        for name, schema in definitions.items()
        if "metadata" in schema.get("properties", {})
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }
    return Judge(KUBERNETES, version, kinds, definitions)


@cache
def operators() -> tuple[Judge, ...]:
    """Return a judge for each version of each operator."""
    table = json.loads(pathlib.Path(__file__).with_name("custom_resources.json").read_text("utf-8"))
    served: dict[tuple[str, str], dict[str, str]] = {}
    for kind, by_operator in table["kinds"].items():
        for operator, versions in by_operator.items():
            for version, definition in versions.items():
                served.setdefault((operator, version), {})[kind] = definition
    return tuple(Judge(name, version, kinds, table["$defs"]) for (name, version), kinds in served.items())


@cache
def _folders() -> dict[tuple[int, int], pathlib.Path]:
    spec = find_spec("kubernetes_validate")
    roots = [pathlib.Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    found = ((_FOLDER.match(folder.name), folder) for root in roots for folder in root.glob("kubernetes-json-schema/*"))
    return {(int(match.group(1)), int(match.group(2))): folder for match, folder in found if match}


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _path(value: Any, reported: Sequence[str | int]) -> Path:
    """Return a path as jsonschema-rs reports it, but with keys of digits as they are: it makes numbers of them."""
    path: list[str | int] = []
    for step in reported:
        if isinstance(step, int) and isinstance(value, dict):
            step = next(key for key in value if key.removeprefix("+").isdecimal() and int(key) == step)
        path.append(step)
        value = value[step]
    return tuple(path)


def _faults(error: ValidationError, schema: Schema, path: Path, called: str) -> Iterator[Fault]:
    """Translate an error of jsonschema-rs."""
    kind: Any = error.kind
    value: object = error.instance
    what, shown = last(path) or called, _shown(value)
    if kind.name == "additionalProperties":
        known = _at(schema, error.schema_path[:-1]).get("properties", {})
        for name in kind.unexpected:
            yield Fault("unknown-field", path, f"{what} has no field {name!r}", suggest(name, known), name)
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
        choices = ", ".join(str(choice) for choice in kind.options if choice is not None)
        yield Fault("wrong-value", path, f"{what} is {shown}", f"must be one of {choices}")
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
