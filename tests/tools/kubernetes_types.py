"""Write builder/packyard/core/kubernetes/fieldtypes.json from a Kubernetes OpenAPI v2 document.

    python tests/tools/kubernetes_types.py SWAGGER.json > builder/packyard/core/kubernetes/fieldtypes.json

kustomize 3.8.7 types fields by the document of Kubernetes 1.17.0, `openapi/kubernetesapi/swagger.json` in the Go module
sigs.k8s.io/kustomize/kyaml v0.9.4. Of its 4 MB the table keeps what setters and strategic merges ask for: per kind the
type of each field, and the keys by which lists of objects are merged.
"""

import json
import sys
from pathlib import Path
from typing import Any

PRIMITIVES = ("string", "integer", "number", "boolean")


def main() -> None:
    definitions = json.loads(Path(sys.argv[1]).read_text())["definitions"]
    numbers: dict[str, int] = {}
    todo: list[str] = []

    def number(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(numbers)
            todo.append(name)
        return numbers[name]

    def shape(schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/definitions/")
            target = definitions[name]
            return number(name) if "properties" in target else shape(target)
        if schema.get("type") == "array":
            return {"items": shape(schema["items"])}
        if "additionalProperties" in schema:
            return {"values": shape(schema["additionalProperties"])}
        if schema.get("format") == "int-or-string":
            return "int-or-string"
        return schema["type"] if schema.get("type") in PRIMITIVES else None

    kinds: dict[str, int] = {}
    for name in sorted(definitions):
        for kind in definitions[name].get("x-kubernetes-group-version-kind", []):
            version = "/".join(filter(None, (kind["group"], kind["version"])))
            if "metadata" in definitions[name].get("properties", {}):
                kinds[f"{version} {kind['kind']}"] = number(name)
    fields: dict[int, dict[str, Any]] = {}
    merge_keys: dict[int, dict[str, str]] = {}
    while todo:
        name = todo.pop()
        properties = definitions[name]["properties"]
        fields[numbers[name]] = {key: shape(schema) for key, schema in sorted(properties.items())}
        keys = {
            key: schema.get("x-kubernetes-patch-merge-key", "")
            for key, schema in sorted(properties.items())
            if "merge" in schema.get("x-kubernetes-patch-strategy", "").split(",") and schema.get("type") == "array"
        }
        if keys:
            merge_keys[numbers[name]] = keys
    table = {
        "kinds": kinds,
        "fields": [fields[index] for index in range(len(fields))],
        "mergeKeys": {str(index): merge_keys[index] for index in sorted(merge_keys)},
    }
    sys.stdout.write(json.dumps(table, separators=(",", ":")) + "\n")


main()
