"""Faults of the Components that users add to a package: patches that hit the wrong item after an edit by hand.

    - {op: test, path: /spec/template/spec/containers/0/name, value: training}      says which item the index means
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: …}
    - {op: test, path: /spec/template/spec/tolerations, value: null}                says that no list gets lost
    - {op: copy, from: /option/tolerations, path: /spec/template/spec/tolerations}

What a Component puts below ``/option`` for a moment, to copy it from there, is its own. A strategic merge replaces
the lists of custom resources, and those lists of built-in kinds that have no merge key.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.kubernetes import fieldtypes, kustomization
from packyard.core.yaml import aliases
from packyard.core.yaml.document import all_comments, mappings, parse_text, source_of
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import embedded
from packyard.using.setters.comment import parse
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed, findings

#: Where a Component puts its own, as it is written out now, and as it was before.
_OWN = ("/option/", "/spec/option/")
#: Lists of mappings, which no operation may write over.
_LISTS = frozenset(
    (
        *("containers", "initContainers", "ephemeralContainers", "volumes", "volumeMounts", "volumeDevices", "env"),
        *("ports", "imagePullSecrets", "secrets", "hostAliases", "topologySpreadConstraints", "envFrom"),
        *("tolerations", "nodeSelectorTerms", "matchExpressions"),
    )
)
#: Has no merge key, but an option may replace it: people give their pods further Secrets in the pods themselves.
_ACCOUNT_SECRETS = ("ServiceAccount", "/imagePullSecrets")


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch of a Component: its documents, the kinds that it is for, and whether its kustomization holds it."""

    documents: Sequence[Document]
    kinds: str
    is_inline: bool


@dataclass(slots=True)
class _Tested:
    """The paths that the patches of one Component tested to be empty so far, with the kinds of objects."""

    empty: set[tuple[str, str]] = field(default_factory=set)

    def is_empty(self, kinds: str, path: str) -> bool:
        """Say whether nothing is at a path, or above it."""
        steps = path.split("/")
        return any((kinds, "/".join(steps[:end])) in self.empty for end in range(2, len(steps) + 1))


def check(package: PackageFiles, parsed: Parsed) -> Iterator[Finding]:
    """Find what is wrong with the Components of a package."""
    for path, documents in parsed.files.items():
        root = documents[0].root if len(documents) == 1 else None
        is_kustomization = posixpath.basename(path) == kustomization.FILE
        if is_kustomization and isinstance(root, MappingNode) and root.text("kind") == "Component":
            yield from _component(package, path, root)


def _component(package: PackageFiles, path: str, root: MappingNode) -> Iterator[Finding]:
    tested = _Tested()
    for entry in mappings(root.get("patches")):
        try:
            patch = _read(package, path, entry)
        except InputError as error:
            yield from findings(error)
            continue
        for document in patch.documents if patch else ():
            assert patch is not None
            if isinstance(document.root, SequenceNode):
                yield from _comments(document)
                yield from _operations(patch, mappings(document.root), tested)
            elif isinstance(document.root, MappingNode):
                yield from _comments(document) if patch.is_inline else ()
                kinds = re.findall(r"\w+", patch.kinds or document.root.text("kind"))
                yield from _lists(patch, document.root, "", tested, kinds)


def _read(package: PackageFiles, path: str, entry: MappingNode) -> _Patch | None:
    """Read a patch, inline or of a file of the package."""
    target, inline = entry.mapping("target"), entry.get("patch")
    kinds = target.text("kind") if target else ""
    if isinstance(inline, Scalar):
        source = embedded(inline)
    else:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.text("path")))
        data = package.resources.get(name, package.patches.get(name))
        if data is None:
            return None
        source = source_of(data, package.where + name)
    documents = parse_text(source)
    for document in documents:
        aliases.follow(document)
    return _Patch(documents, kinds, is_inline=isinstance(inline, Scalar))


def _comments(document: Document) -> Iterator[Finding]:
    """Find setter comments where no version of kustomize looks for them."""
    for comment in all_comments(document):
        if reference := parse(comment.text):
            message = f"the comment for {reference.name} binds no field: kustomize reads no comments in this patch"
            hint = "put the value into a strategic merge in a .yaml file, or remove the comment"
            yield breach("unbound-in-patch", (document.source, comment.start), message, hint)


def _operations(patch: _Patch, operations: Sequence[MappingNode], tested: _Tested) -> Iterator[Finding]:
    """Check operations in their order."""
    guards: set[str] = set()  # where something was tested
    own: set[str] = set()  # what came with the patch
    for operation in operations:
        kind, path = operation.text("op"), operation.text("path")
        value = operation.get("value")
        if kind == "test":
            if isinstance(value, Scalar) and value.style == "plain" and value.value in ("", "~", "null"):
                tested.empty.add((patch.kinds, path))
            else:
                guards.add(path)
            continue
        node = operation.get("path") or operation
        for field_name in ("path", "from"):
            yield from _indices(operation, field_name, guards, own)
        if kind == "remove" and path.rpartition("/")[2] in _LISTS and not path.startswith(_OWN):
            message = f"this removes the whole list {path}, with the items that were added by hand"
            yield breach("list-replaced", node, message, "remove one item, after a test of its name")
        is_safe = _is_below(path, own) or (kind != "replace" and tested.is_empty(patch.kinds, path))
        if kind != "remove" and _replaces(path, value) and not is_safe:
            message = f"this replaces the whole list {path}, with the items that were added by hand"
            hint = f"append to it with {path}/-, or put {{op: test, path: {path}, value: null}} before this"
            yield breach("list-replaced", node, message, hint)
        own.add(path)


def _replaces(path: str, value: Node | None) -> bool:
    """Say whether what stands at a path is a list of mappings."""
    last = path.rpartition("/")[2]
    is_list = isinstance(value, SequenceNode) and any(isinstance(item.value, MappingNode) for item in value.items)
    return not path.startswith(_OWN) and last != "-" and not last.isdecimal() and (is_list or last in _LISTS)


def _is_below(path: str, others: set[str]) -> bool:
    """Say whether a path is one of others, or below one."""
    return any(f"{path}/".startswith(f"{other}/") for other in others)


def _indices(operation: MappingNode, name: str, guards: set[str], own: set[str]) -> Iterator[Finding]:
    """Find an index in a path where no operation before tests the item, or a field of it."""
    node, path = operation.get(name), operation.text(name)
    steps = path.split("/")
    is_insertion = operation.text("op") == "add" and name == "path" and steps[-1] == "0"
    for end, step in enumerate(steps[:-1] if is_insertion else steps, 1):
        item = "/".join(steps[:end])
        if not step.isdecimal() or path.startswith(_OWN) or _is_below(item, own):
            continue
        if any(_is_below(each, {item}) for each in guards):
            continue
        message = f"no test makes sure which item {item} is: after an edit by hand it may be another one"
        hint = f"put {{op: test, path: {item}/name, value: …}} before this"
        place = node or operation
        yield breach("unguarded-index", place, message, hint)
        return


def _lists(patch: _Patch, node: MappingNode, path: str, tested: _Tested, kinds: Sequence[str]) -> Iterator[Finding]:
    """Find lists of a strategic merge that replace those of an object of one of the kinds."""
    for entry in node.entries:
        here = f"{path}/{entry.name}"
        if isinstance(entry.value, MappingNode):
            yield from _lists(patch, entry.value, here, tested, kinds)
        elif isinstance(entry.value, SequenceNode):
            is_joined = all(
                fieldtypes.joins(kind, here.split("/")[1:]) or (kind, here) == _ACCOUNT_SECRETS for kind in kinds
            )
            if not is_joined and not here.startswith(_OWN) and not tested.is_empty(patch.kinds, here):
                message = f"this replaces the whole list {here}, with the items that were added by hand"
                hint = f"test first that the list is missing, or copy its items from {_OWN[0][:-1]}"
                yield breach("list-replaced", entry, message, hint)
