"""What a kustomization makes of objects: its patches change them, its labels are added, its replacements copy values.

    labels: [{pairs: {app: web}, includeSelectors: true}]    objects, pods and selectors have the label
    patches: [{path: replicas.yaml}]                         what the patch says is judged where it says it

What kustomize alone can say is left as it is, and the build is not known to be complete.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.errors import InputError, suggest
from packyard.core.kubernetes.kustomization import GROUP
from packyard.core.yaml import aliases, make
from packyard.core.yaml.document import items, mappings
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, Entry, MappingNode, Node, Scalar
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.span import embedded
from packyard.using.kustomize import replacement, selector
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.patch import AbsentError, MisfitError
from packyard.writing.checks.finding import Finding, breach, finding

Files = Mapping[str, Sequence[Document]]

_NAMED = ("apiVersion", "kind", "metadata.name")
_OPERATIONS = ("add", "remove", "replace", "test", "move", "copy")
#: Where an object has the labels of its pods.
_TEMPLATES = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"))
#: Where kinds have a selector; those of `_CHOOSING` have one only if somebody wrote it.
_SELECTORS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), ("spec", "selector", "matchLabels")),
    **dict.fromkeys(("Service", "ReplicationController"), ("spec", "selector")),
    **dict.fromkeys(("PodDisruptionBudget", "Job"), ("spec", "selector", "matchLabels")),
    "NetworkPolicy": ("spec", "podSelector", "matchLabels"),
}
_CHOOSING = ("PodDisruptionBudget", "NetworkPolicy", "Job")


@dataclass(slots=True)
class Changes:
    """The objects, as they become; ``complete`` says that nothing was left out, ``findings`` what kustomize refuses.

    ``is_certain`` says that all objects are there, by their names, ``is_known`` that all fields of them are.
    """

    objects: list[SourceObject]
    is_certain: bool
    is_known: bool
    complete: bool = True
    findings: list[Finding] = field(default_factory=list)


def apply(
    root: MappingNode, folder: str, files: Files, objects: Sequence[SourceObject], *, is_certain: bool, is_known: bool
) -> Changes:
    """Change objects as a kustomization says; what is certain and known is that of `Changes`."""
    changes = Changes([*objects], is_certain, is_known)
    for patch in _patches(root, folder, files):
        if patch is None or patch.document.root is None:
            changes.complete = False
        else:
            _patch(patch, patch.document.root, changes)
    for pairs, selectors, templates in _labels(root):
        for item in changes.objects:
            try:
                _label(item, pairs, selectors=selectors, templates=templates)
            except InputError:  # a text where labels stand, of which the schema tells
                changes.complete = False
    is_renamed = any(root.get(field) for field in ("namePrefix", "nameSuffix", "namespace"))
    for node in items(root.get("replacements")):
        _replace(node, root, changes, is_certain=is_certain and is_known and changes.complete and not is_renamed)
    return changes


def _patch(patch: Patch, root: Node, changes: Changes) -> None:
    faults = [*_refused(patch, root)]
    changes.findings += faults
    if faults:
        changes.complete = False
        return
    if patch.target is None and isinstance(root, MappingNode):
        _, kind, namespace, name = identity = selector.identity(root)
        if not any(selector.is_same(item.identity, identity) for item in changes.objects):
            if changes.is_certain and not namespace:
                message = f"no {kind} {name!r} is there to patch, and kustomize fails"
                hint = suggest(name, (item.identity[3] for item in changes.objects if item.identity[1] == kind))
                place = root.find("metadata", "name") or root
                changes.findings.append(breach("entry-without-target", place, message, hint, severity="error"))
            return
    idle = list[Mapping[tuple[str, int, str], bool]]()
    try:
        accumulate(Part("", patches=(patch,)), changes.objects, idle)
    except AbsentError:  # which kustomize adds
        changes.complete = False
    except MisfitError as error:
        changes.complete = False
        problems = error.problems if changes.is_known else ()
        changes.findings += (finding("entry-without-target", problem, "error") for problem in problems)
    except InputError:  # a directive that kustomize alone follows
        changes.complete = False
    if changes.is_certain and any(nothing for part in idle for nothing in part.values()):
        message = "no object is the target of this patch, which kustomize passes over"
        place = patch.entry.get("target") or patch.entry
        changes.findings.append(breach("entry-without-target", place, message, "correct the target"))


def _refused(patch: Patch, root: Node) -> Iterator[Finding]:
    """Find what kustomize refuses in a patch, whatever it is for, and a path that it takes for another one."""
    if isinstance(root, MappingNode):
        _, *named = identity = selector.identity(root)
        missing = [field for field, text in zip(_NAMED, (identity[0], named[0], named[2]), strict=True) if not text]
        if missing and not root.text("apiVersion").startswith(f"{GROUP}/"):
            message = f"this patch has no {missing[0]}, and kustomize fails"
            yield breach("kustomize-refuses", root, message, "the object that it is for")
        return
    if patch.target is None:
        message = "operations say no object, and kustomize fails"
        yield breach("kustomize-refuses", patch.entry, message, "target: {kind: Deployment}")
    for operation in mappings(root):
        word, path = operation.text("op"), operation.scalar("path")
        if word not in _OPERATIONS:
            hint = suggest(word, _OPERATIONS) or ", ".join(_OPERATIONS)
            message = f"a patch has no operation {word!r}, and kustomize fails"
            yield breach("kustomize-refuses", operation.get("op") or operation, message, hint)
        if path and path.value and not path.value.startswith("/"):
            message = f"the path {path.value} does not begin with /: kustomize changes the object itself"
            yield breach("entry-without-target", path, message, f"/{path.value}", severity="error")


def _replace(node: Node, root: MappingNode, changes: Changes, *, is_certain: bool) -> None:
    """Copy a value as one of ``replacements`` says; options and files are left to kustomize."""
    fields, idle = Fields(root, root.source.name, ""), list[Mapping[tuple[str, int, str], bool]]()
    is_inline = isinstance(node, MappingNode) and node.get("path") is None
    rules = replacement.read(fields, node, "", Sources(Path())) if is_inline else []
    changes.complete = changes.complete and bool(rules) and not fields.problems
    try:
        accumulate(Part("", replacements=() if fields.problems else tuple(rules)), changes.objects, idle)
    except InputError as error:
        changes.complete = False
        if is_certain:
            changes.findings += (finding("entry-without-target", problem, "error") for problem in error.problems)
    changes.complete = changes.complete and not any(nothing for part in idle for nothing in part.values())
    for target in (target for rule in rules for target in rule.targets if is_certain):
        if not any(selector.selects(target.select, item.root, item.identity) for item in changes.objects):
            message = "no object is the target of this replacement, which kustomize passes over"
            changes.findings.append(breach("entry-without-target", target.node, message, "correct the target"))


def _patches(root: MappingNode, folder: str, files: Files) -> Iterator[Patch | None]:
    """Yield the patches of a kustomization; None for what cannot be read."""
    for node in items(root.get("patchesStrategicMerge")):
        yield from (Patch(document, None, node) if document else None for document in _documents(node, folder, files))
    for key in ("patches", "patchesJson6902"):
        for entry in mappings(root.get(key)):
            fields = Fields(entry, root.source.name, key)
            target = selector.read(fields, "target") if entry.get("target") is not None else None
            path, inline = entry.get("path"), entry.get("patch")
            there = _inline(inline) if path is None and isinstance(inline, Scalar) else _documents(path, folder, files)
            yield from (None if fields.problems or each is None else Patch(each, target, entry) for each in there)


def _documents(node: Node | None, folder: str, files: Files) -> Sequence[Document | None]:
    """Return what a patch says, in its file or in place."""
    if not isinstance(node, Scalar):
        return (None,)
    if "\n" not in node.value and not node.value.startswith(("[", "{")):
        return files.get(posixpath.normpath(posixpath.join(folder, node.value))) or (None,)
    return _inline(node)


def _inline(node: Scalar) -> Sequence[Document | None]:
    """Return what a patch in place says."""
    try:
        return aliases.read(embedded(node))
    except InputError:
        return (None,)


def _labels(root: MappingNode) -> Iterator[tuple[list[Entry], bool, bool]]:
    """Yield labels that a kustomization adds, and whether selectors and the pods have them, too."""
    if common := root.mapping("commonLabels"):
        yield common.entries, True, True
    for entry in mappings(root.get("labels")):
        pairs, selectors = entry.mapping("pairs"), entry.text("includeSelectors") == "true"
        yield pairs.entries if pairs else [], selectors, selectors or entry.text("includeTemplates") == "true"


def _label(item: SourceObject, pairs: Sequence[Entry], *, selectors: bool, templates: bool) -> None:
    root, kind = item.root, item.root.text("kind")
    paths: list[tuple[str, ...]] = [("metadata", "labels")]
    paths += [(*path, "metadata", "labels") for path in _TEMPLATES if templates and root.mapping(*path, "spec")]
    wanted = _SELECTORS.get(kind, ()) if selectors and root.mapping("spec") else ()
    paths += [wanted] if wanted and (kind not in _CHOOSING or root.mapping(*wanted)) else []
    for path in paths:
        held = make.mapping(root.source.name, {})
        held.children = [make.like(pair) for pair in pairs]
        for name in reversed(path):
            held = make.mapping(root.source.name, {name: held})
        item.merge(held)
