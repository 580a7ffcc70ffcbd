"""``podPatches``: what every pod has is written once, and patched into the pods of any kind of object.

Paths are below a pod's template, wherever its object keeps it. ``*`` stands for every element of a list (of one that is
not there: for none), ``[name=tmp]`` for those whose field has that value, and ``{a,b}`` for either word. What follows
has to be there in each of them, as in RFC 6902. Each operation becomes RFC 6902 operations as kustomize knows them::

    path: /spec/{initContainers,containers}/*/image
    ->  /spec/template/spec/containers/0/image                          a Job
    ->  /spec/mpiReplicaSpecs/Worker/template/spec/containers/0/image   an MPIJob
    ->  /spec/templates/1/container/image                               an Argo Workflow

A template of a Workflow has a pod's fields in itself, its containers under three names, and its sidecars apart. What
Argo has only for all pods of a workflow is patched there, once; what it has nowhere is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, product
from math import prod

from packyard.errors import InputError
from packyard.source import patch
from packyard.source.patch import scalar
from packyard.text.node import Entry, Node, Sequence
from packyard.text.node import Mapping as MappingNode

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
    "TrainingRuntime": "/spec/template/spec/replicatedJobs/*/template/spec/template",
    "ClusterTrainingRuntime": "/spec/template/spec/replicatedJobs/*/template/spec/template",
    "MPIJob": "/spec/mpiReplicaSpecs/*/template",
    "PyTorchJob": "/spec/pytorchReplicaSpecs/*/template",
    "TFJob": "/spec/tfReplicaSpecs/*/template",
    "Workflow": "/spec/templates/*",
    "WorkflowTemplate": "/spec/templates/*",
    "CronWorkflow": "/spec/workflowSpec/templates/*",
}
#: Of a pod's ``spec``, what a template of Argo's may say, and what only its workflow may say, for all.
_OF_TEMPLATE = {
    *("activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "hostAliases"),
    *("initContainers", "nodeSelector", "priorityClassName", "schedulerName", "securityContext"),
    *("serviceAccountName", "tolerations", "volumes"),
}
_OF_WORKFLOW = {"dnsConfig", "dnsPolicy", "hostNetwork", "imagePullSecrets"}
#: How many paths one may stand for by its ``{a,b}``, and how many operations a patch may come to on one object.
MAX_CHOICES, MAX_OPERATIONS = 64, 5000
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
        paths = (path for place in templates for path in _paths(operation, *place))
        for path in dict.fromkeys(islice(paths, MAX_OPERATIONS + 1)):
            found.items.append(type(item)(_with_path(operation, path), item.start))
        if len(found.items) > MAX_OPERATIONS:
            raise InputError(operation.problem(f"the patch comes to more than {MAX_OPERATIONS} operations"))
    return found


def _with_path(operation: MappingNode, path: str) -> MappingNode:
    """Return an operation with another path; all else in it is shared, as operations are never changed."""
    copied = MappingNode(
        operation.source, operation.start, operation.end, operation.flow, operation.tag, operation.anchor
    )
    copied.comment = operation.comment
    copied.entries = list(operation.entries)
    place = next(index for index, entry in enumerate(copied.entries) if entry.name == "path")
    old = copied.entries[place]
    entry = copied.entries[place] = Entry(old.key, scalar(path, operation), old.start)
    entry.head, entry.foot, entry.comment = old.head, old.foot, old.comment
    return copied


def matches(selector: str, template: MappingNode, place: Node) -> bool:
    """Say whether a template's labels satisfy a selector: ``a=b``, ``a!=b``, ``a in (b, c)``, ``a notin (b, c)``."""
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
        if isinstance(node, MappingNode) and not (is_workflow and not _workflow_containers(node)):
            yield pointer, node, is_workflow


def _paths(operation: MappingNode, pointer: str, template: MappingNode, is_workflow: bool) -> Iterator[str]:
    """Yield the paths that an operation's path stands for in one template."""
    text = operation.text("path")
    if not text.startswith(("/spec/", "/metadata/")):
        hint = "paths are below a pod's template: /spec/volumes/-"
        raise InputError(operation.problem(f"path {text!r} has to begin with /spec/ or /metadata/", hint))
    choices = [step[1:-1].split(",") if step.startswith("{") else [step] for step in text[1:].split("/")]
    if prod(map(len, choices)) > MAX_CHOICES or len(choices) > patch.MAX_STEPS:
        message = f"path stands for more than {MAX_CHOICES} paths, or has more than {patch.MAX_STEPS} steps"
        raise InputError(operation.problem(message))
    for steps in product(*choices):
        if is_workflow and steps[0] == "spec":
            yield from _workflow_paths(operation, pointer, template, list(steps[1:]))
        else:
            yield from (pointer + path for path in _places(template, list(steps)))


def _places(node: Node, steps: list[str]) -> Iterator[str]:
    """Yield the paths that steps with wildcards stand for; without any, the path itself, there or not."""
    *above, last = steps
    if last == "*" or last.startswith("["):
        yield from (pointer for pointer, _ in _follow("", node, steps))
        return
    opened = max((place for place, step in enumerate(above, 1) if step == "*" or step.startswith("[")), default=0)
    rest = "".join(f"/{step}" for step in steps[opened:])
    for pointer, _ in _follow("", node, steps[:opened]):
        yield f"{pointer}{rest}"


def _workflow_paths(operation: MappingNode, pointer: str, template: MappingNode, steps: list[str]) -> Iterator[str]:
    """Yield the paths for steps below a pod's ``spec`` in a template of Argo, or in its workflow."""
    field = steps[0]
    if field == "containers" and steps[1:2] in (["*"], ["0"]):
        found = _workflow_containers(template)
        for container in found if steps[1] == "*" else found[:1]:
            ((_, node),) = _follow("", template, container.split("/")[1:])
            yield from (f"{pointer}{container}{path}" for path in _places(node, steps[2:]))
    elif field in _OF_TEMPLATE - {"containers"}:
        yield from (pointer + path for path in _places(template, steps))
    elif field in _OF_WORKFLOW:
        workflow = pointer.rpartition("/templates/")[0]
        yield f"{workflow}/{'/'.join(steps)}"
    else:
        unknown = "/".join(steps[:2]) if field == "containers" else field
        message = f"path {operation.text('path')!r}: Argo knows no {unknown} of a pod"
        raise InputError(operation.problem(message, "choose other kinds by target, or patch podSpecPatch"))


def _workflow_containers(template: MappingNode) -> list[str]:
    """Return where an Argo template has its containers, the main one first; nothing where it makes no pod of ours."""
    main = [f"/{key}" for key in ("container", "script") if template.get(key) is not None]
    main += [pointer for pointer, _ in _follow("", template, ["containerSet", "containers", "*"])]
    return main + [pointer for pointer, _ in _follow("", template, ["sidecars", "*"])] if main else []


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
    if step.startswith("["):
        names = [name for name, child in children.items() if _is_selected(child, step)]
    else:
        names = list(children) if step == "*" else [step] if step in children else []
    return [found for name in names for found in _follow(f"{pointer}/{name}", children[name], deeper)]


def _is_selected(node: Node, step: str) -> bool:
    """Say whether an element of a list is the one that ``[key=value]`` names."""
    key, _, text = step[1:-1].partition("=")
    return isinstance(node, MappingNode) and node.text(key) == text.replace("~1", "/").replace("~0", "~")
