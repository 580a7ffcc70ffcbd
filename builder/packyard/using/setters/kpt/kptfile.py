"""The Kptfile: which functions of its pipeline apply setters, and where the values that they are given stand.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.yaml.document import items
from packyard.core.yaml.node import Alias, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import implicit_type, is_null

_TEXT, _TEXTS, _NAMED_TEXTS, _ANYTHING = "string", "[]string", "map[string]string", ""
#: The types of a Kptfile of version 1 with their fields: those that list-setters knows, and what the newest kpt has.
_TYPES: Mapping[str, Mapping[str, str]] = {
    "v1.KptFile": {
        **dict.fromkeys(("apiVersion", "kind"), _TEXT),
        "metadata": "v1.ObjectMeta",
        "upstream": "v1.Upstream",
        "upstreamLock": "v1.UpstreamLock",
        "info": "v1.PackageInfo",
        "pipeline": "v1.Pipeline",
        "inventory": "v1.Inventory",
        "status": _ANYTHING,
    },
    "v1.ObjectMeta": {
        **dict.fromkeys(("name", "namespace"), _TEXT),
        **dict.fromkeys(("labels", "annotations"), _NAMED_TEXTS),
    },
    "v1.Upstream": {"type": "v1.OriginType", "git": "v1.Git", "updateStrategy": "v1.UpdateStrategyType"},
    "v1.Git": dict.fromkeys(("repo", "directory", "ref"), _TEXT),
    "v1.UpstreamLock": {"type": "v1.OriginType", "git": "v1.GitLock"},
    "v1.GitLock": dict.fromkeys(("repo", "directory", "ref", "commit"), _TEXT),
    "v1.PackageInfo": {
        **dict.fromkeys(("site", "license", "licenseFile", "description", "man"), _TEXT),
        **dict.fromkeys(("emails", "keywords"), _TEXTS),
        "readinessGates": _ANYTHING,
    },
    "v1.Pipeline": dict.fromkeys(("mutators", "validators"), "[]v1.Function"),
    "v1.Function": {
        **dict.fromkeys(("image", "configPath"), _TEXT),
        "configMap": _NAMED_TEXTS,
        **dict.fromkeys(("exec", "name", "selectors", "exclude", "tag"), _ANYTHING),
    },
    "v1.Inventory": {
        **dict.fromkeys(("namespace", "name", "inventoryID"), _TEXT),
        **dict.fromkeys(("labels", "annotations"), _NAMED_TEXTS),
    },
}
#: The types of scalars by their names in definitions, each with that of its YAML tag, which kpt prints.
TAGS = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}


@dataclass(frozen=True, slots=True)
class Mutator:
    """A function of the pipeline that applies setters; it has values of its own, or a file of them, or neither."""

    node: MappingNode
    config_map: MappingNode | None
    config_path: str

    @property
    def is_selective(self) -> bool:
        """Whether it is told to see some of the objects only."""
        return self.node.get("selectors") is not None or self.node.get("exclude") is not None


def find_mutators(root: Node | None) -> list[Mutator]:
    """Return the functions of a Kptfile's pipeline that apply setters, in their order."""
    nodes = items(root.find("pipeline", "mutators")) if isinstance(root, MappingNode) else []
    return [
        Mutator(node, node.mapping("configMap"), node.text("configPath"))
        for node in nodes
        if isinstance(node, MappingNode) and any("apply-setters" in node.text(key) for key in ("image", "exec"))
    ]


def check(root: MappingNode) -> None:
    """Refuse unknown fields, for example a misspelt ``pipeline``, in the words of kpt's list-setters.

    Lines are counted in the object as it came, without empty ones: an orchestrator's annotations are lines of it.
    """
    if root.text("apiVersion").startswith("kpt.dev/v1alpha"):
        return
    lines = ["unable to read Kptfile: invalid 'v1' Kptfile: yaml: unmarshal errors:"]
    at, line = root.start, 1
    for node, fault in _faults(root, "v1.KptFile"):
        before = root.source.text[at : node.start].split("\n")[:-1]
        at, line = node.start, line + sum(bool(text.strip()) for text in before)
        lines.append(f"  line {line}: {fault}")
    if len(lines) > 1:
        raise InputError("\n".join(lines))


def _faults(node: Node, kind: str) -> Iterator[tuple[Node, str]]:
    if isinstance(node, Alias) or kind == _ANYTHING or is_null(node):
        return
    if kind.startswith("[]") and isinstance(node, SequenceNode):
        for item in node.items:
            yield from _faults(item.value, kind.removeprefix("[]"))
    elif kind == _NAMED_TEXTS and isinstance(node, MappingNode):
        for entry in node.entries:
            yield from _faults(entry.value, _TEXT)
    elif kind in _TYPES and isinstance(node, MappingNode):
        for entry in node.entries:
            field_kind = _TYPES[kind].get(entry.name)
            if field_kind is None:
                yield entry.key, f"field {entry.name} not found in type {kind}"
            else:
                yield from _faults(entry.value, field_kind)
    elif kind in _TYPES or kind.startswith(("[]", "map")) or not isinstance(node, Scalar):
        yield node, f"cannot unmarshal {_found(node)} into {kind}"


def _found(node: Node) -> str:
    if not isinstance(node, Scalar):
        return "!!seq" if isinstance(node, SequenceNode) else "!!map"
    text = node.value if len(node.value.encode()) <= len("1234567890") else f"{node.value[:7]}..."
    kind = implicit_type(node.value) if node.style == "plain" else "string"
    return f"!!{TAGS.get(kind, kind)} `{text}`"
