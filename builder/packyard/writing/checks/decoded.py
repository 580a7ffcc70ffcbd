"""The fields of a kustomization and their types: kustomize decodes them strictly, and fails for the first wrong one.

images: [{name: server, newTag: 1.0}]       a number, where text is expected: newTag: "1.0"
commonAnnotations: {scrape: true}           likewise
patches: [patch.yaml]                       text, where a mapping is expected: - path: patch.yaml
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.yaml.document import items
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import YAML11_BOOLEANS, double_quoted, implicit_type, is_null
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach

#: What a value is to be: one of these words, a list of one thing, a mapping (``*`` for any key), or anything.
_TEXT, _FLAG, _WHOLE = "text", "true or false", "a whole number"
_TEXTS: list[object] = [_TEXT]
_NAMED: dict[str, object] = {"*": _TEXT}
_OBJECT: dict[str, object] = dict.fromkeys(("group", "version", "kind", "name", "namespace"), _TEXT)
_SELECTOR = {**_OBJECT, "labelSelector": _TEXT, "annotationSelector": _TEXT}
_OPTIONS = {"labels": _NAMED, "annotations": _NAMED, "disableNameSuffixHash": _FLAG, "immutable": _FLAG}
_GENERATOR: dict[str, object] = {
    **dict.fromkeys(("name", "namespace", "behavior", "env"), _TEXT),
    **dict.fromkeys(("files", "literals", "envs"), _TEXTS),
    "options": _OPTIONS,
}
_PATCHES = [{"path": _TEXT, "patch": _TEXT, "target": _SELECTOR, "options": None}]
_COPYING = dict.fromkeys(("delimiter", "index", "encoding", "create"))
_TARGET = {"select": _SELECTOR, "reject": None, "fieldPaths": _TEXTS, "options": _COPYING}
_SOURCE = {**_OBJECT, "fieldPath": _TEXT, "options": None}
#: The fields that other ones have replaced.
REPLACED = {
    "bases": "resources",
    "patchesStrategicMerge": "patches",
    "patchesJson6902": "patches",
    "commonLabels": "labels",
    "vars": "replacements",
    "imageTags": "images",
    "helmChartInflationGenerator": "helmCharts",
}
_FIELDS: dict[str, object] = {
    **dict.fromkeys(("apiVersion", "kind", "metadata", "openapi", "sortOptions", "inventory", "vars", "imageTags")),
    **dict.fromkeys(("helmCharts", "helmGlobals", "helmChartInflationGenerator")),
    **dict.fromkeys(("namespace", "namePrefix", "nameSuffix"), _TEXT),
    **dict.fromkeys(("resources", "components", "bases", "crds", "configurations", "validators"), _TEXTS),
    **dict.fromkeys(("generators", "transformers", "patchesStrategicMerge", "buildMetadata"), _TEXTS),
    **dict.fromkeys(("commonLabels", "commonAnnotations"), _NAMED),
    **dict.fromkeys(("patches", "patchesJson6902"), _PATCHES),
    "configMapGenerator": [_GENERATOR],
    "secretGenerator": [{**_GENERATOR, "type": _TEXT}],
    "generatorOptions": _OPTIONS,
    "images": [dict.fromkeys(("name", "newName", "newTag", "digest", "tagSuffix"), _TEXT)],
    "replicas": [{"name": _TEXT, "count": _WHOLE}],
    "labels": [{"pairs": _NAMED, "includeSelectors": _FLAG, "includeTemplates": _FLAG, "fields": None}],
    "replacements": [{"path": _TEXT, "source": _SOURCE, "sourceValue": None, "targets": [_TARGET]}],
}


def check(root: MappingNode) -> Iterator[Finding]:
    """Find fields that kustomize does not know, and what it cannot decode."""
    for entry in root.entries:
        if entry.name in _FIELDS:
            yield from _value(entry.value, _FIELDS[entry.name], entry.name)
        else:
            message = f"kustomize knows no field {entry.name!r}"
            yield breach("unknown-kustomize-field", entry, message, suggest(entry.name, _FIELDS))


def _value(node: Node, shape: object, called: str) -> Iterator[Finding]:
    if shape is None or is_null(node):
        return
    if isinstance(shape, list) and isinstance(node, SequenceNode):
        for item in items(node):
            yield from _value(item, shape[0], f"an entry of {called}")
    elif isinstance(shape, dict) and isinstance(node, MappingNode):
        fields = {name.casefold(): name for name in shape}  # Go reads them without regard to case
        for entry in node.entries:
            name = "*" if "*" in shape else fields.get(entry.name.casefold())
            if name is not None:
                yield from _value(entry.value, shape[name], entry.name)
                continue
            message = f"kustomize knows no field {entry.name!r} there, and refuses the file"
            hint = suggest(entry.name, shape) or f"it knows {', '.join(shape)}"
            yield breach("unknown-kustomize-field", entry, message, hint)
    elif not (isinstance(shape, str) and isinstance(node, Scalar) and _is(node, shape)):
        wanted = shape if isinstance(shape, str) else "a list" if isinstance(shape, list) else "a mapping"
        fix = double_quoted(node.value) if shape == _TEXT and isinstance(node, Scalar) else ""
        message = f"{called} must be {wanted}, and kustomize fails"
        yield breach("kustomize-refuses", node, message, fix or _hint(node, wanted), fix)


def _hint(node: Node, wanted: str) -> str:
    if not isinstance(node, Scalar):
        return ""
    if node.style != "plain" and wanted in (_FLAG, _WHOLE):
        return f"without quotes: {node.value}"
    return f"path: {node.value}" if wanted == "a mapping" and node.value.endswith((".yaml", ".yml", ".json")) else ""


def _is(node: Scalar, wanted: str) -> bool:
    """Say whether a scalar is read as wanted; kustomize reads this file by YAML 1.1."""
    if variables.is_filled_in(node.value):
        return True
    if node.style != "plain":
        return wanted == _TEXT
    is_switch = node.value in YAML11_BOOLEANS
    kind = implicit_type(node.value) if node.value else "string"
    if wanted == _FLAG:
        return is_switch or kind == "boolean"
    if wanted == _WHOLE:
        return kind == "integer" or (kind == "number" and float(node.value.replace("_", "")).is_integer())
    return not is_switch and kind not in ("boolean", "integer", "number")
