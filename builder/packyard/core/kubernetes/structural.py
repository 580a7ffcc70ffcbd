"""JSON Schemas that refuse unknown fields, made of the structural schemas of CustomResourceDefinitions.

They keep what a structural schema decides: names of fields, types, what is required, the limits of values. A field that
the API server would drop is one that the schema does not admit. Defaults (a required field that has one is not
required) and rules in CEL are kept as they stand, but for rules about what a field was before. Not kept: descriptions,
``oneOf``, and what is below ``metadata`` and ``status``.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from packyard.core.kubernetes.lenient import mapping, mappings, text

Schema = dict[str, Any]

#: The keywords that mean the same in both.
KEPT = {"enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
KEPT |= {"minProperties", "maxProperties", "default"}
#: Where a schema has its rules in CEL.
RULES = "x-kubernetes-validations"
#: Fields that the API server has in each object, whether a definition says so or not.
_OF_ALL = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
_ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}


def kinds(definition: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each kind that a definition serves, ``ray.io/v1 RayJob``, with its structural schema."""
    spec = mapping(definition.get("spec"))
    kind = text(mapping(spec.get("names")).get("kind"))
    for served in mappings(spec.get("versions")):
        root = mapping(mapping(served.get("schema")).get("openAPIV3Schema"))
        if served.get("served") and root:
            fields = {**_OF_ALL, **mapping(root.get("properties")), "metadata": _ANYTHING, "status": _ANYTHING}
            yield f"{spec.get('group')}/{served.get('name')} {kind}", {**root, "properties": fields}


def translate(schema: Mapping[str, Any], inner: Callable[[Mapping[str, Any]], Schema] | None = None) -> Schema:
    """Return the JSON Schema of a structural schema; ``inner`` does for the schemas in it, instead of this."""
    inner = inner or translate
    translated: Schema = {key: schema[key] for key in schema if key in KEPT}
    declared = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else schema.get("type")
    if declared:
        listed = declared if isinstance(declared, list) else [declared]
        translated["type"] = [*listed, "null"] if schema.get("nullable") else declared
    if "items" in schema:
        translated["items"] = inner(mapping(schema["items"]))
    rules = [
        {key: rule[key] for key in ("message", "messageExpression", "rule") if key in rule}
        for rule in mappings(schema.get(RULES))
        if "oldSelf" not in text(rule.get("rule"))
    ]
    if rules:
        translated[RULES] = rules
    values = schema.get("additionalProperties", False)
    if isinstance(values, dict):
        translated["additionalProperties"] = inner(values)
    elif not values and declared == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        translated["additionalProperties"] = False
    if properties := mapping(schema.get("properties")):
        translated["properties"] = {str(name): inner(mapping(properties[name])) for name in sorted(properties, key=str)}
        names = [name for name in schema.get("required", ()) if "default" not in mapping(properties.get(name))]
        if names:
            translated["required"] = sorted(names)
    return translated
