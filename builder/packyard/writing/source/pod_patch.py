"""One patch for the pods of every kind: ``pods.yaml`` in an overlay, or a file that a use case lists among its patches.

    apiVersion: packyard/v1
    kind: PodPatch
    targets: [{kind: Deployment, labelSelector: app=serving}]    which objects: all that have pods, if it is left out
    roles: [worker]                          which of their pods: all, if it is left out
    absent: [affinity]                       fields of this patch that a pod must not have; null adds none
    append: [tolerations]                    lists that are added to, where Kubernetes would replace them
    metadata: {annotations: …}               of the pods
    spec: …                                  a fragment of a pod, with setter comments

This reads it; `pod_operations` says what it comes to in an object of any kind.
"""

from collections.abc import Sequence

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.yaml.document import items, walk
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, Entry, MappingNode, Scalar
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import selector
from packyard.using.setters import regexp
from packyard.writing.source.pod_operations import CONTAINERS, PodPatch, containers
from packyard.writing.source.workspace import PODS

VERSION, KIND = "packyard/v1", "PodPatch"
_OUT = "null takes a field out; to take an item out, list a strategic merge with $patch: delete in patches"
_METADATA = ("annotations", "labels")


def is_one(documents: Sequence[Document]) -> bool:
    """Say whether a file begins with a patch of pods, or with what was meant to be one."""
    root = documents[0].root if documents else None
    return isinstance(root, MappingNode) and (root.text("kind") == KIND or root.text("apiVersion") == VERSION)


def read_beside(sources: Sources, folder: str) -> tuple[PodPatch, ...]:
    """Read the patches of pods of an overlay; none where it has no such file."""
    path = f"{folder}/{PODS}"
    return read(sources, path) if sources.is_file(path) else ()


def read(sources: Sources, path: str) -> tuple[PodPatch, ...]:
    """Read a file of patches, one in each document."""
    file, problems = sources.shown(path), list[Problem]()
    documents = sources.documents(path)
    patches = [_read(Fields(document.root, file, "", problems), path) for document in documents]
    if not documents:
        problems.append(Problem("is empty", file=file))
    if problems:
        raise InputError(*problems)
    return tuple(patches)


def _read(fields: Fields, path: str) -> PodPatch:
    fields.expect_header(VERSION, KIND)
    spec = fields.child("spec")
    aims = fields.items("targets")
    targets = [Fields(node, fields.file, "targets", fields.problems) for node in aims]
    patch = PodPatch(
        path=path,
        file=fields.file,
        line=fields.node.source.locate(fields.node.start)[0] if fields.node else 0,
        targets=tuple(selector.read_fields(target) for target in targets),
        roles=tuple(fields.texts("roles")),
        absent=frozenset(fields.texts("absent")),
        append=frozenset(fields.texts("append")),
        metadata=_metadata(fields),
        spec=spec.node if spec else None,
        head=tuple(fields.node.entries[0].head) if fields.node and fields.node.entries else (),
        places=(*aims, *(items(fields.node.get("roles")) if fields.node else ())),
    )
    _check(fields, patch)
    fields.elsewhere("where", "give the objects a label, and targets that select it")
    fields.done()
    return patch


def _metadata(fields: Fields) -> Entry | None:
    child = fields.child("metadata")
    if child is None or child.node is None:
        return None
    for key in _METADATA:
        child.mapping(key)
    child.done()
    return fields.node.entry("metadata") if fields.node else None


def _check(fields: Fields, patch: PodPatch) -> None:
    """Note what a patch says in vain, and what is no name of a container."""
    if patch.spec is None and patch.metadata is None and not fields.problems:
        fields.fault(fields.node, "spec", "is missing", "give the fields of a pod that the patch is for")
    nodes = [node for root in patch.roots for node in walk(root) if isinstance(node, MappingNode)]
    names = {entry.name for node in nodes for entry in node.entries}
    for key in ("absent", "append"):
        listed = fields.node.get(key) if fields.node else None
        for node in walk(listed):
            if isinstance(node, Scalar) and node.value not in names:
                fields.fault(node, key, f"{node.value!r} is not a field of this patch", suggest(node.value, names))
    for node in nodes:
        if directive := node.get("$patch"):
            fields.fault(directive, "$patch", "is not for patches of pods", _OUT)
    for key in CONTAINERS:
        for container in containers(patch.spec, key):
            name = container.get("name")
            fault = regexp.fault(f"^(?:{container.text('name')})$") if name else ""
            if not isinstance(name, Scalar) or not name.value:
                fields.fault(
                    container, f"spec.{key}", "a container needs a name", "name: main, or (a|b) for one of two"
                )
            elif fault:
                fields.fault(name, f"spec.{key}", f"{name.value!r} must be a regular expression: {fault}")
