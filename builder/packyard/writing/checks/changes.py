"""What kustomizations make of the objects of a tree: what their patches change, and the labels that they add.

    labels: [{pairs: {app: web}, includeSelectors: true}]    objects, pods and selectors have the label
    patches: [{path: replicas.yaml}]                         what the patch says is judged where it says it

What kustomize alone can say is left as it is, and the build is not known to be complete.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError, suggest
from packyard.core.yaml import aliases, make
from packyard.core.yaml.document import items, mappings, parse_text
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import embedded
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, nameless
from packyard.using.kustomize.patch import MisfitError
from packyard.writing.checks import generated
from packyard.writing.checks.finding import Finding, breach, finding
from packyard.writing.checks.generated import Generated

Files = Mapping[str, Sequence[Document]]

#: Where an object has the labels of its pods.
_TEMPLATES = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"))
#: Kinds that get a selector, and where it is; others have one only if somebody wrote it.
_SELECTORS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), ("spec", "selector", "matchLabels")),
    **dict.fromkeys(("Service", "ReplicationController"), ("spec", "selector")),
}
_CHOSEN: Mapping[str, tuple[str, ...]] = {
    "PodDisruptionBudget": ("spec", "selector", "matchLabels"),
    "NetworkPolicy": ("spec", "podSelector", "matchLabels"),
    "Job": ("spec", "selector", "matchLabels"),
}


@dataclass(slots=True)
class Changes:
    """What became of the objects and of what is ``generated``; ``complete`` says that nothing was left out,
    ``findings`` what kustomize refuses.
    """

    objects: list[SourceObject]
    generated: Generated
    complete: bool = True
    findings: list[Finding] = field(default_factory=list)


def apply(
    root: MappingNode,
    folder: str,
    files: Files,
    objects: list[SourceObject],
    *,
    is_certain: bool,
    config_maps: Generated,
) -> Changes:
    """Change objects as a kustomization says; ``is_certain`` says that all of them are there, by their names.

    ``config_maps`` are those generated before, which patches may change.
    """
    changes = Changes(objects, config_maps)
    for document, target in _patches(root, folder, files):
        if document is None or document.root is None:
            changes.complete = False
            continue
        try:
            _patch(document.root, target, changes, is_certain=is_certain)
        except MisfitError as error:
            changes.complete = False
            changes.findings += (finding("entry-without-target", each, "error") for each in error.problems)
        except InputError:  # a directive that kustomize alone follows
            changes.complete = False
    for pairs, selectors, templates in _labels(root):
        for item in changes.objects:
            _label(item, pairs, selectors=selectors, templates=templates)
    return changes


def _patch(root: Node, target: Mapping[str, str] | None, changes: Changes, *, is_certain: bool) -> None:
    objects = changes.objects
    changes.generated = generated.patched(changes.generated, root, target)
    if target is not None:
        matched = [each for each in objects if selector.selects(target, each.root, each.identity)]
    elif isinstance(root, MappingNode):
        matched = [each for each in objects if each.identity == selector.identity(root)]
    else:
        return
    if isinstance(root, MappingNode) and root.text("$patch") == "delete":
        changes.objects = [each for each in objects if each not in matched]
    elif isinstance(root, MappingNode):
        _, kind, _, name = selector.identity(root)
        is_generated = kind == "ConfigMap" and name in changes.generated
        if not matched and target is None and is_certain and not is_generated:
            message = f"no {kind} {name!r} is there to patch, and kustomize fails"
            names = (each.identity[3] for each in objects if each.identity[1] == kind)
            changes.findings.append(
                breach(
                    "entry-without-target",
                    root.find("metadata", "name") or root,
                    message,
                    suggest(name, names),
                    severity="error",
                )
            )
        for each in matched:
            each.merge(nameless(root))
    elif isinstance(root, SequenceNode):
        for each in matched:
            each.operate(root)


def _patches(root: MappingNode, folder: str, files: Files) -> Iterator[tuple[Document | None, dict[str, str] | None]]:
    """Yield what the patches of a kustomization say, each with its target; None for what cannot be read."""
    for node in items(root.get("patchesStrategicMerge")):
        yield from ((each, None) for each in _documents(node, folder, files))
    for field_name in ("patches", "patchesJson6902"):
        for entry in mappings(root.get(field_name)):
            fields = Fields(entry, root.source.name, field_name)
            target = selector.read(fields, "target") if entry.get("target") is not None else None
            if fields.problems:
                yield None, None
                continue
            patch = entry.get("path") or entry.get("patch")
            yield from ((each, target) for each in _documents(patch, folder, files))


def _documents(node: Node | None, folder: str, files: Files) -> Sequence[Document | None]:
    """Return what a patch says, in its file or in place."""
    if not isinstance(node, Scalar):
        return (None,)
    if "\n" not in node.value and not node.value.startswith(("[", "{")):
        return files.get(posixpath.normpath(posixpath.join(folder, node.value))) or (None,)
    try:
        documents = parse_text(embedded(node))
        for document in documents:
            aliases.follow(document)
    except InputError:
        return (None,)
    return documents


def _labels(root: MappingNode) -> Iterator[tuple[list[Entry], bool, bool]]:
    """Yield labels that a kustomization adds, and whether selectors and the pods have them, too."""
    common = root.get("commonLabels")
    if isinstance(common, MappingNode):
        yield common.entries, True, True
    for entry in mappings(root.get("labels")):
        pairs, selectors = entry.mapping("pairs"), entry.text("includeSelectors") == "true"
        yield pairs.entries if pairs else [], selectors, selectors or entry.text("includeTemplates") == "true"


def _label(item: SourceObject, pairs: list[Entry], *, selectors: bool, templates: bool) -> None:
    _merge(item, ("metadata", "labels"), pairs)
    root = item.root
    for path in _TEMPLATES if templates else ():
        if root.mapping(*path, "spec"):
            _merge(item, (*path, "metadata", "labels"), pairs)
    kind = root.text("kind")
    default, chosen = _SELECTORS.get(kind, ()), _CHOSEN.get(kind, ())
    place = default or (chosen if chosen and root.mapping(*chosen) else ())
    if selectors and place and root.mapping("spec"):
        _merge(item, place, pairs)


def _merge(item: SourceObject, path: Sequence[str], pairs: list[Entry]) -> None:
    """Put entries into a mapping of an object."""
    held = make.mapping(item.root.source.name, {})
    held.children = [make.like(each) for each in pairs]
    for name in reversed(path):
        held = make.mapping(item.root.source.name, {name: held})
    item.merge(held)
