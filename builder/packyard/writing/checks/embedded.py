"""The manifests that Argo workflows hold as text, as objects: ``templates[].resource.manifest``.

    manifest: |
      kind: Deployment
      spec: {replicas: {{workflow.parameters.REPLICAS}}}       the value of that parameter, in the lines of its file

What stands for something that only a run knows stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from packyard.core.errors import InputError
from packyard.core.kubernetes.kinds import ARGO, is_kind
from packyard.core.yaml.document import mappings, parse_text, walk
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.span import embedded

_EXPRESSION = re.compile(r"\{\{.*?\}\}")
_TOKEN = re.compile(r"Z(\d+)z*Z")
#: A parameter that an expression stands for: of the workflow, or of a template.
_PARAMETER = re.compile(r"\{\{-?\s*(workflow|inputs)\.parameters\.([\w-]+)\s*-?\}\}")
#: What is done with whole objects; other manifests are patches, or only name one.
_WHOLE = ("create", "apply", "replace")
_MOST = 1000  # expressions of a manifest


def spec_of(root: MappingNode) -> MappingNode | None:
    """Return what is the ``spec`` of a workflow, for each kind that has one."""
    if not is_kind(root, ARGO, "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"):
        return None
    return root.mapping("spec", "workflowSpec") or root.mapping("spec")


def _parameters(holder: MappingNode | None) -> dict[str, Node | None]:
    """Return the names of the parameters that ``arguments`` or ``inputs`` declare, with their values."""
    listed = mappings(holder.get("parameters")) if holder else []
    return {name: item.get("value") or item.get("default") for item in listed if (name := item.text("name"))}


def find(
    root: MappingNode, reached: Mapping[int, frozenset[str]]
) -> Iterator[tuple[MappingNode, dict[int, frozenset[str]]]]:
    """Yield the objects that a workflow holds as text, each with the setters that change its fields, by their nodes."""
    spec = spec_of(root)
    for template in mappings(spec.get("templates")) if spec else ():
        text, action = template.scalar("resource", "manifest"), template.scalar("resource", "action")
        if spec and text and text.value and (action.value if action else "create") in _WHOLE:
            scopes = {
                "workflow": _parameters(spec.mapping("arguments")),
                "inputs": _parameters(template.mapping("inputs")),
            }
            yield from _objects(text, scopes, reached)


def _objects(
    text: Scalar, scopes: Mapping[str, Mapping[str, Node | None]], reached: Mapping[int, frozenset[str]]
) -> Iterator[tuple[MappingNode, dict[int, frozenset[str]]]]:
    source = embedded(text)
    expressions: list[str] = []

    def token(match: re.Match[str]) -> str:
        """Return a plain text as long as the expression, so that all places stay."""
        expressions.append(match.group())
        return f"Z{len(expressions) - 1}".ljust(len(match.group()) - 1, "z") + "Z"

    source.text = _EXPRESSION.sub(token, source.text)
    try:
        documents = parse_text(source) if len(expressions) <= _MOST else []
    except InputError:
        return
    for document in documents:
        if isinstance(document.root, MappingNode) and document.root.text("kind") and not spec_of(document.root):
            changed: dict[int, frozenset[str]] = {}
            if all(_fill(node, expressions, scopes, reached, changed) for node in walk(document.root)):
                yield document.root, changed


def _fill(
    node: Node,
    expressions: list[str],
    scopes: Mapping[str, Mapping[str, Node | None]],
    reached: Mapping[int, frozenset[str]],
    changed: dict[int, frozenset[str]],
) -> bool:
    """Put the values of parameters into a text, and note what changes it; False where its type cannot be known."""
    if not isinstance(node, Scalar):
        return True

    def value(match: re.Match[str]) -> str:
        expression = expressions[int(match[1])]
        named = _PARAMETER.fullmatch(expression)
        parameter = scopes[named[1]].get(named[2]) if named else None
        if not isinstance(parameter, Scalar) or "{{" in parameter.value:
            return expression
        changed[id(node)] = changed.get(id(node), frozenset()) | reached.get(id(parameter), frozenset())
        return parameter.value

    node.value = _TOKEN.sub(value, node.value)
    return node.style != "plain" or not _EXPRESSION.fullmatch(node.value)
