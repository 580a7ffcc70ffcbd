"""Write builder/packyard/core/kubernetes/kubernetes_schemas.json from the strict schemas in kubernetes-validate.

    python tests/tools/kubernetes_schemas.py > builder/packyard/core/kubernetes/kubernetes_schemas.json

Of their 108 MB the table keeps what decides whether an object is valid, of the kinds that a cluster stores and of the
parts that custom resources share with them. A definition is written once for all versions of Kubernetes in which it,
and everything that it refers to, is the same. Not kept: descriptions, ``format``, which no validator applies by itself,
and extensions. Which words a field takes, where these are few, the schemas do not say, but the sources of the newest
version: `kubernetes_choices`. What else a server refuses is in `kubernetes_rules.yaml`.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from tools import kubernetes_choices

#: What lint checks in a custom resource: the short names of the table, and those of Kubernetes.
PARTS = {
    **{name: f"io.k8s.api.core.v1.{name}" for name in ("Container", "PodSpec", "Toleration", "Volume")},
    "ObjectMeta": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
}
_FOLDER = re.compile(r"v(\d+)\.(\d+)\.\d+-local-strict")
_DECIDING = {"$ref", "additionalProperties", "enum", "items", "oneOf", "properties", "required", "type"}
_DROPPED = {"description", "format", "x-kubernetes-group-version-kind", "x-kubernetes-list-map-keys"}
_DROPPED |= {"x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-patch-merge-key"}
_DROPPED |= {"x-kubernetes-patch-strategy", "x-kubernetes-unions"}

Schema = dict[str, Any]

_RULES: dict[str, Schema] = yaml.load(Path(__file__).with_name("kubernetes_rules.yaml").read_bytes(), yaml.CSafeLoader)
_SHORT = re.compile(r"^io\.k8s\.(api|apimachinery\.pkg\.apis)\.")


def folders() -> dict[str, Path]:
    """Return the folder of each version of Kubernetes, oldest first."""
    found = {}
    package = find_spec("kubernetes_validate")  # its import takes seconds
    for folder in Path(str(package and package.origin)).with_name("kubernetes-json-schema").iterdir():
        if match := _FOLDER.fullmatch(folder.name):
            found[int(match[1]), int(match[2])] = folder
    return {f"{major}.{minor}": found[major, minor] for major, minor in sorted(found)}


def kinds(definitions: Mapping[str, Schema]) -> Iterator[tuple[str, str]]:
    """Yield each kind that a cluster stores, ``batch/v1 Job``, with the name of its definition."""
    for name, schema in definitions.items():
        if "metadata" in schema.get("properties", {}):
            for kind in schema.get("x-kubernetes-group-version-kind", ()):
                yield f"{'/'.join(filter(None, (kind['group'], kind['version'])))} {kind['kind']}", name


def deciding(schema: Schema) -> Schema:
    """Return a schema without what decides nothing."""
    if unknown := schema.keys() - _DECIDING - _DROPPED:
        raise SystemExit(f"keywords that this program does not know: {unknown}")
    found = {key: value for key, value in schema.items() if key in _DECIDING}
    for key in {"items", "additionalProperties"} & found.keys():
        found[key] = deciding(found[key]) if isinstance(found[key], dict) else found[key]
    if "oneOf" in found:
        found["oneOf"] = [deciding(each) for each in found["oneOf"]]
    if "properties" in found:
        found["properties"] = {name: deciding(each) for name, each in found["properties"].items()}
    return found


def limited(schema: Schema, choices: Mapping[str, list[str]], rule: Schema) -> Schema:
    """Return a definition whose fields take these words alone, and the empty text, which the server takes for none.

    The keywords of a ``rule`` are added to its own, and to those of its fields.
    """
    properties = dict(schema.get("properties", {}))
    for name in choices.keys() & properties.keys():
        field = properties[name]
        place = field.get("items", field)
        nothing = [None] if "null" in place["type"] else []
        words = {**place, "enum": [*choices[name], *([] if "" in choices[name] else [""]), *nothing]}
        properties[name] = {**field, "items": words} if "items" in field else words
    return _joined({**schema, "properties": properties} if properties else schema, rule)


def _joined(schema: Schema, rule: Schema) -> Schema:
    """Return a schema with the keywords of another; of fields that it does not have nothing is added."""
    found = {**rule, **schema}
    if "properties" in rule and "properties" in schema:
        fields = rule["properties"]
        found["properties"] = {name: _joined(each, fields.get(name, {})) for name, each in schema["properties"].items()}
    if "items" in rule and "items" in schema:
        found["items"] = _joined(schema["items"], rule["items"])
    return found


def references(schema: object) -> Iterator[str]:
    """Yield the names of the definitions that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from references(part)


def within(definitions: Mapping[str, Schema], name: str) -> frozenset[str]:
    """Return a name, and the names of all definitions that are reached from it; some reach themselves."""
    found: set[str] = set()
    todo = [name]
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += references(definitions[name])
    return frozenset(found)


class Table:
    """The definitions of all versions, each with what it refers to under the number of its first occurrence."""

    def __init__(self) -> None:
        self.kinds: dict[str, dict[str, dict[str, str]]] = {}
        self.parts: dict[str, dict[str, str]] = {}
        self.schemas: dict[str, Schema] = {}
        self._numbers: dict[str, str] = {}

    def add(self, version: str, definitions: Mapping[str, Schema], choices: Mapping[str, dict[str, list[str]]]) -> None:
        """Take the kinds and parts of a version, and what they refer to."""
        served = dict(kinds(definitions))
        plain = {
            name: limited(deciding(each), choices.get(name, {}), _RULES.get(_SHORT.sub("", name), {}))
            for name, each in definitions.items()
        }
        numbers = self._number(plain, [*served.values(), *PARTS.values()])
        for kind, name in served.items():
            self.kinds.setdefault(kind, {}).setdefault("Kubernetes", {})[version] = numbers[name]
        for part, name in PARTS.items():
            self.parts.setdefault(part, {})[version] = numbers[name]

    def _number(self, definitions: Mapping[str, Schema], roots: list[str]) -> dict[str, str]:
        """Number the definitions that the roots reach, and keep those that are new."""
        reached = {name: within(definitions, name) for root in roots for name in within(definitions, root)}
        numbers = {}
        for name in sorted(reached):
            text = json.dumps([name, {each: definitions[each] for each in sorted(reached[name])}], sort_keys=True)
            numbers[name] = self._numbers.setdefault(text, str(len(self._numbers)))
        for name, number in numbers.items():
            if number not in self.schemas:
                self.schemas[number] = _renamed(definitions[name], numbers)
        return numbers

    def text(self) -> str:
        """Return the table as JSON, a kind or a definition a line."""
        tables = {"kinds": dict(sorted(self.kinds.items())), "parts": self.parts, "$defs": self.schemas}
        return "{" + ",\n".join(f'"{name}":{_lines(table)}' for name, table in tables.items()) + "}\n"


def _lines(table: Mapping[str, Any]) -> str:
    rows = (f'"{key}":{json.dumps(row, separators=(",", ":"), sort_keys=True)}' for key, row in table.items())
    return "{\n" + ",\n".join(rows) + "\n}"


def _renamed(schema: Any, numbers: Mapping[str, str]) -> Any:
    """Return a schema that refers to numbers."""
    if isinstance(schema, list):
        return [_renamed(each, numbers) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _renamed(each, numbers) for key, each in schema.items()}
    if isinstance(found.get("$ref"), str):
        found["$ref"] = "#/$defs/" + numbers[found["$ref"].rpartition("/")[2]]
    return found


def build() -> str:
    """Return the text of kubernetes_schemas.json."""
    table, choices = Table(), kubernetes_choices.read()
    for version, folder in folders().items():
        table.add(version, json.loads((folder / "_definitions.json").read_bytes())["$defs"], choices)
    return table.text()


if __name__ == "__main__":
    sys.stdout.write(build())
