"""What kustomizations make of the objects of a tree: what their patches change, and the labels that they add.

    labels: [{pairs: {app: web}, includeSelectors: true}]    objects, pods and selectors have the label
    patches: [{path: replicas.yaml}]                         what the patch says is judged where it says it

What kustomize alone can say is left as it is, and the build is not known to be complete.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError, suggest
from packyard.core.kubernetes import kustomization
from packyard.core.kubernetes.kinds import namespace_of
from packyard.core.yaml import aliases, make
from packyard.core.yaml.document import entries, items, mappings, parse_text, scalars
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import embedded
from packyard.using.kustomize import replacement, selector
from packyard.using.kustomize.accumulate import SourceObject, nameless
from packyard.using.kustomize.patch import AbsentError, MisfitError
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
        except AbsentError:  # which kustomize adds
            changes.complete = False
        except MisfitError as error:
            changes.complete = False
            changes.findings += (finding("entry-without-target", each, "error") for each in error.problems)
        except InputError:  # a directive that kustomize alone follows
            changes.complete = False
    for pairs, selectors, templates in _labels(root):
        for item in changes.objects:
            try:
                _label(item, pairs, selectors=selectors, templates=templates)
            except InputError:  # a text where labels stand, of which the schema tells
                changes.complete = False
    replacements = mappings(root.get("replacements"))
    creating = [each for item in replacements for each in mappings(item.get("targets")) if _creates(each)]
    is_known = changes.complete and not creating  # otherwise there may be fields of which nothing is known here
    for each in replacements:
        try:
            _replacement(each, root, changes, is_certain=is_certain, is_known=is_known)
        except InputError:  # a pattern that cannot be read
            changes.complete = False
    return changes


def _creates(target: MappingNode) -> bool:
    """Say whether a target gets the field that it lacks."""
    return bool((options := target.mapping("options")) and options.text("create") == "true")


def _replacement(root: MappingNode, top: MappingNode, changes: Changes, *, is_certain: bool, is_known: bool) -> None:
    """Copy a value as one of ``replacements`` says, and find what it does not lead to; options are left to kustomize.

    It acts after what renames in ``top``, its kustomization: it may say the name before or after that.
    """
    source, sources = root.mapping("source"), list[SourceObject]()
    path = source.scalar("fieldPath") if source else None
    if source is not None:
        sources = [each for each in changes.objects if _is_meant(source, each, top)]
        is_generated = any(_is_made(source, *called) for called in changes.generated)
        if not sources and is_certain and not is_generated:
            message = f"no object is called {source.text('name')}, the source of this replacement, and kustomize fails"
            names = (each.identity[3] for each in changes.objects)
            changes.findings.append(_reaches(source.get("name") or source, message, names))
    values = replacement.find_fields(sources[0].root, path.value) if len(sources) == 1 and path else []
    if path and len(sources) == 1 and not values and is_known and not _may_come(path.value):
        message = f"{sources[0].identity[1]} {sources[0].identity[3]} has nothing at {path.value}, and kustomize fails"
        changes.findings.append(_reaches(path, message))
    changes.complete = changes.complete and source is not None and source.get("options") is None
    for target in mappings(root.get("targets")):
        _target(target, values, top, changes, is_certain=is_certain, is_known=is_known)


def _may_come(path: str) -> bool:
    """Say whether kustomize itself may add what a path leads to, such as a namespace."""
    return path.lstrip(".").startswith("metadata.")


def _target(
    target: MappingNode, values: list[Node], top: MappingNode, changes: Changes, *, is_certain: bool, is_known: bool
) -> None:
    """Put a value into the fields of the targets of a replacement, and find those that are not there."""
    select = target.mapping("select")
    options = [each for each in entries(target.get("options")) if each.name != "create"]
    chosen = [each for each in changes.objects if select and _is_meant(select, each, top)]
    if select and not chosen and is_certain and not any(_is_made(select, *called) for called in changes.generated):
        message = "no object is the target of this replacement, which kustomize passes over"
        changes.findings.append(breach("entry-without-target", select, message, "correct the target"))
    for path in scalars(target.get("fieldPaths")):
        for each in chosen if target.get("reject") is None else ():
            if replacement.find_fields(each.root, path.value):
                if values and not options:
                    each.replace(replacement.Target({}, (path.value,), target), values[0])
            elif _creates(target):
                changes.complete = changes.complete and "annotations" in path.value
            elif is_known and not _may_come(path.value):
                message = f"{each.identity[1]} {each.identity[3]} has nothing at {path.value}, and kustomize fails"
                changes.findings.append(_reaches(path, message))
    changes.complete = changes.complete and not options and target.get("reject") is None and len(values) == 1


def _is_meant(words: MappingNode, item: SourceObject, top: MappingNode) -> bool:
    """Say whether a source or a target means an object."""
    own = selector.words(item.identity)
    texts = {word: words.text(word) for word in ("group", "version", "kind") if words.text(word)}
    name, called = words.text("name"), own["name"]
    is_named = not name or selector.matches(name, called) or kustomization.may_call(name, called, [top])
    spaces = {words.text("namespace"), namespace_of(item.root)} - {"", top.text("namespace")}
    return len(spaces) < 2 and is_named and all(selector.matches(text, own[word]) for word, text in texts.items())


def _is_made(words: MappingNode, kind: str, name: str) -> bool:
    texts = {word: words.text(word) for word in ("kind", "name") if words.text(word)}
    return generated.is_target(texts, kind, name)


def _reaches(place: Node, message: str, names: Iterable[str] = ()) -> Finding:
    text = place.value if isinstance(place, Scalar) else ""
    return breach("entry-without-target", place, message, suggest(text, names), severity="error")


def _patch(root: Node, target: Mapping[str, str] | None, changes: Changes, *, is_certain: bool) -> None:
    objects = changes.objects
    changes.generated = generated.patched(changes.generated, root, target)
    if target is not None:
        matched = [each for each in objects if selector.selects(target, each.root, each.identity)]
    elif isinstance(root, MappingNode):
        matched = [each for each in objects if selector.is_same(each.identity, selector.identity(root))]
    else:
        return
    if isinstance(root, MappingNode) and root.text("$patch") == "delete":
        changes.objects = [each for each in objects if each not in matched]
    elif isinstance(root, MappingNode):
        _, kind, namespace, name = selector.identity(root)
        is_generated = (kind, name) in changes.generated
        if not matched and target is None and is_certain and not is_generated and not namespace:
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
            path, inline = entry.get("path"), entry.get("patch")
            there = _inline(inline) if path is None and isinstance(inline, Scalar) else _documents(path, folder, files)
            yield from ((each, target) for each in there)


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
