"""Write builder/packyard/core/kubernetes/fieldtypes.json from two OpenAPI documents of Kubernetes.

    (cd tests/tools/kustomize-5 && go run facts.go schema) > MERGED.json
    python tests/tools/kubernetes_types.py TYPED.json MERGED.json > builder/packyard/core/kubernetes/fieldtypes.json

Setters type fields as kustomize 3.8.7 does, by the document of Kubernetes 1.17.0: TYPED.json is
`openapi/kubernetesapi/swagger.json` in the Go module sigs.k8s.io/kustomize/kyaml v0.9.4. Strategic merges join lists
as kustomize 5 does, by the document of the pinned version. Of their 5 MB the table keeps, per kind, the type of each
field, and under ``merged`` the lists that are joined, the way to them, and their keys: none for a list of texts.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PRIMITIVES = ("string", "integer", "number", "boolean")
Schema = dict[str, Any]


class Tables:
    """The tables of one document: its kinds, by their number, and the fields of each number."""

    def __init__(self, file: str) -> None:
        self.definitions: dict[str, Schema] = json.loads(Path(file).read_text())["definitions"]
        self.numbers: dict[str, int] = {}

    def shape(self, schema: Schema) -> Any:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/definitions/")
            target = self.definitions[name]
            return self.numbers.setdefault(name, len(self.numbers)) if "properties" in target else self.shape(target)
        if schema.get("type") == "array":
            return {"items": self.shape(schema["items"])}
        if isinstance(schema.get("additionalProperties"), dict):
            return {"values": self.shape(schema["additionalProperties"])}
        if schema.get("format") == "int-or-string":
            return "int-or-string"
        return schema["type"] if schema.get("type") in PRIMITIVES else None

    def kinds(self, *, lists: bool) -> dict[str, int]:
        kinds = {}
        for name, schema in sorted(self.definitions.items()):
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                version = "/".join(filter(None, (kind["group"], kind["version"])))
                if "metadata" in schema.get("properties", {}) and (lists or not kind["kind"].endswith("List")):
                    kinds[f"{version} {kind['kind']}"] = self.numbers.setdefault(name, len(self.numbers))
        return kinds

    def fields(self) -> list[dict[str, Any]]:
        """Return the fields of each number; those that they lead to get numbers."""
        fields: list[dict[str, Any]] = []
        while len(fields) < len(self.numbers):
            properties = self.definitions[[*self.numbers][len(fields)]]["properties"]
            fields.append(
                {key: shape for key, schema in sorted(properties.items()) if (shape := self.shape(schema)) is not None}
            )
        return fields

    def merge_keys(self, number: int) -> dict[str, list[str]]:
        properties = self.definitions[[*self.numbers][number]]["properties"]
        return {key: keys for key, schema in sorted(properties.items()) if (keys := _merge_keys(schema)) is not None}


def _merge_keys(schema: Schema) -> list[str] | None:
    """Return the keys by which a list is joined, as kyaml's `PatchStrategyAndKeyList` does; None: it is not."""
    if schema.get("type") != "array" or "merge" not in schema.get("x-kubernetes-patch-strategy", "").split(","):
        return None
    key = schema.get("x-kubernetes-patch-merge-key")
    return schema.get("x-kubernetes-list-map-keys", [key] if key else [])


def typed(file: str) -> Mapping[str, Any]:
    tables = Tables(file)
    return {"kinds": tables.kinds(lists=True), "fields": tables.fields()}


def merged(file: str) -> Mapping[str, Any]:
    """Return what leads to lists that are joined; definitions that do so alike have one number."""
    tables = Tables(file)
    kinds, fields = tables.kinds(lists=False), tables.fields()
    keys = [tables.merge_keys(number) for number in range(len(fields))]
    alike: dict[str, int] = {}
    numbers = dict.fromkeys(range(len(fields)), -1)  # -1 leads to none
    while True:
        ways = [
            {key: way for key, shape in own.items() if (way := _way(shape, numbers)) is not None or key in keys[number]}
            for number, own in enumerate(fields)
        ]
        texts = [json.dumps([ways[number], keys[number]]) if ways[number] else "" for number in numbers]
        alike = {text: place for place, text in enumerate(dict.fromkeys(filter(None, texts)))}
        if numbers == (numbers := {number: alike.get(text, -1) for number, text in enumerate(texts)}):
            break
    kept = {place: number for number, place in reversed(numbers.items())}
    return {
        "kinds": {kind: numbers[number] for kind, number in kinds.items() if numbers[number] >= 0},
        "fields": [ways[kept[place]] for place in range(len(alike))],
        "mergeKeys": {str(place): keys[kept[place]] for place in range(len(alike)) if keys[kept[place]]},
    }


def _way(shape: Any, numbers: Mapping[int, int]) -> Any:
    """Return a shape with other numbers; None where it leads to no list that is joined."""
    if isinstance(shape, dict):
        ((word, inner),) = shape.items()
        return None if (way := _way(inner, numbers)) is None else {word: way}
    return numbers[shape] if isinstance(shape, int) and numbers[shape] >= 0 else None


table = {**typed(sys.argv[1]), "merged": merged(sys.argv[2])}
sys.stdout.write(json.dumps(table, separators=(",", ":")) + "\n")
