"""``podPatches``: what every pod has is written once, and patched into the pods of any kind of object.

Paths are below a pod's template, wherever its object keeps it. ``*`` stands for every element of a list (of one that is
not there: for none) and ``{a,b}`` for either word. Each operation becomes RFC 6902 operations as kustomize knows them::

    path: /spec/{initContainers,containers}/*/image
    ->  /spec/template/spec/containers/0/image                          a Job
    ->  /spec/mpiReplicaSpecs/Worker/template/spec/containers/0/image   an MPIJob
    ->  /spec/templates/1/container/image                               an Argo Workflow
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from packyard.errors import InputError
from packyard.source.patch import clone, scalar
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Node, Sequence

#: Where objects keep pod templates, by kind. ``*`` is every key or index.
_TEMPLATES = {
    "Pod": "",
    "PodTemplate": "/template",
    "Deployment": "/spec/template",
    "StatefulSet": "/spec/template",
    "DaemonSet": "/spec/template",
    "ReplicaSet": "/spec/template",
    "Job": "/spec/template",
    "CronJob": "/spec/jobTemplate/spec/template",
    "JobSet": "/spec/replicatedJobs/*/template/spec/template",
    "MPIJob": "/spec/mpiReplicaSpecs/*/template",
    "PyTorchJob": "/spec/pytorchReplicaSpecs/*/template",
    "TFJob": "/spec/tfReplicaSpecs/*/template",
    "Workflow": "/spec/templates/*",
    "WorkflowTemplate": "/spec/templates/*",
    "CronWorkflow": "/spec/workflowSpec/templates/*",
}
_REQUIREMENT = re.compile(r"\s*([^\s=!,()]+)\s*(?:(=|==|!=)\s*([^\s=!,()]+)|(in|notin)\s*\(([^()]*)\))\s*(?:,|\Z)")


def expand(root: MappingNode, operations: Sequence, labels: str) -> Sequence:
    """Return the operations on the pods of one object, each with the path that it has there, in the same order.

    ``labels`` is a Kubernetes label selector for the templates; an empty one takes all.
    """
    found = Sequence(operations.source, operations.start, operations.end, False, None, None)
    templates = [item for item in _templates(root) if matches(labels, item[1], operations)]
    for item in operations.items:
        operation = item.value
        if not isinstance(operation, MappingNode) or operation.get("path") is None:
            raise InputError(operation.problem("an operation has to be a mapping with op and path"))
        if operation.text("op") not in ("add", "remove", "replace", "test"):
            raise InputError(operation.problem(f"op {operation.text('op')!r} cannot be used on pods"))
        for pointer, template, is_workflow in templates:
            for path in _paths(operation, template, is_workflow):
                copied = clone(operation)
                assert isinstance(copied, MappingNode)
                entry = copied.entry("path")
                assert entry is not None
                entry.value = scalar(pointer + path, operation)
                found.items.append(type(item)(copied, item.start))
    return found


def matches(selector: str, template: MappingNode, place: Node) -> bool:
    """Tell whether a template's labels satisfy a selector: ``a=b``, ``a!=b``, ``a in (b, c)``, ``a notin (b, c)``."""
    metadata = template.mapping("metadata", "labels")
    position = 0
    while position < len(selector):
        requirement = _REQUIREMENT.match(selector, position)
        if not requirement:
            raise InputError(place.problem(f"{selector!r} is no label selector", "a=b, or a in (b, c)"))
        key, operator, value, operator_of_set, values = requirement.groups()
        wanted = [word.strip() for word in values.split(",")] if operator_of_set else [value]
        has = metadata is not None and metadata.get(key) is not None and metadata.text(key) in wanted
        if has is (operator == "!=" or operator_of_set == "notin"):
            return False
        position = requirement.end()
    return True


def _templates(root: MappingNode) -> Iterator[tuple[str, MappingNode, bool]]:
    """Yield the pod templates of an object: JSON pointer, node, and whether it is one of an Argo Workflow."""
    kind = root.text("kind")
    if kind not in _TEMPLATES:
        return
    steps = _TEMPLATES[kind].split("/")[1:]
    is_workflow = root.text("apiVersion").startswith("argoproj.io/")
    for pointer, node in _follow("", root, steps):
        if isinstance(node, MappingNode) and not (is_workflow and _workflow_container(node) is None):
            yield pointer, node, is_workflow


def _paths(operation: MappingNode, template: MappingNode, is_workflow: bool) -> Iterator[str]:
    """Yield the paths below a template that an operation's path stands for."""
    text = operation.text("path")
    if not text.startswith(("/spec/", "/metadata/")):
        hint = "paths are below a pod's template: /spec/volumes/-"
        raise InputError(operation.problem(f"path {text!r} has to begin with /spec/ or /metadata/", hint))
    choices = [step[1:-1].split(",") if step.startswith("{") else [step] for step in text[1:].split("/")]
    for steps in product(*choices):
        if is_workflow and steps[0] == "spec":
            yield from _workflow_paths(template, list(steps[1:]))
            continue
        *above, last = steps
        for pointer, _ in _follow("", template, above) if "*" in above else [("/" + "/".join(above), template)]:
            yield f"{pointer}/{last}"


def _workflow_paths(template: MappingNode, steps: list[str]) -> Iterator[str]:
    """Yield paths of an Argo template: what is a pod's spec stands in the template itself, with one main container."""
    if steps[:1] == ["containers"]:
        if steps[1:2] in (["*"], ["0"]):
            yield "/" + "/".join([str(_workflow_container(template)), *steps[2:]])
        return
    if "*" not in steps:
        yield "/" + "/".join(steps)
        return
    for pointer, _ in _follow("", template, steps[:-1]):
        yield f"{pointer}/{steps[-1]}"


def _workflow_container(template: MappingNode) -> str | None:
    return next((key for key in ("container", "script") if template.get(key) is not None), None)


def _follow(pointer: str, node: Node, steps: list[str]) -> list[tuple[str, Node]]:
    """Return what a path with wildcards leads to, pointer and node; nothing where a step is missing."""
    if not steps:
        return [(pointer, node)]
    step, *deeper = steps
    children: Mapping[str, Node] = {}
    if isinstance(node, MappingNode):
        children = {entry.name.replace("~", "~0").replace("/", "~1"): entry.value for entry in node.entries}
    elif isinstance(node, Sequence):
        children = {str(index): item.value for index, item in enumerate(node.items)}
    names = list(children) if step == "*" else [step] if step in children else []
    return [found for name in names for found in _follow(f"{pointer}/{name}", children[name], deeper)]
