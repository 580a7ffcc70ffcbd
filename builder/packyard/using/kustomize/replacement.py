"""``replacements``: a value of one object, copied into fields of others, as kustomize does.

    - source: {kind: PodTemplate, name: storage, fieldPath: "template.spec.volumes.[name=storage]"}
      targets:
      - select: {kind: Job}
        fieldPaths: ["spec.template.spec.volumes.[name=storage]"]

A path has steps joined by dots, and may begin with one: a key (one with dots is written ``a\\.b`` or ``[a.b]``), an
index, ``-`` for the last item, ``*`` for all, ``[key=value]`` for the items with that value, ``[=value]`` for the texts
in a list. It must lead to something. In a target the value is a regular expression, of which any part of a text will
do, as in kustomize: ``[name=web]`` are the items ``web`` and ``web-2``. Options of kustomize's are refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.document import items
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.make import clone, scalar
from packyard.core.yaml.node import Child, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import implicit_type, is_null, to_value, type_of
from packyard.using.kustomize import selector
from packyard.using.setters import regexp

_STEP = re.compile(r"\[([^=\]]*)=(.*)\]\Z")
_DOT = re.compile(r"(?<!\\)\.(?![^][]*\](?:\.|\Z))")


@dataclass(frozen=True, slots=True)
class Target:
    """Objects, and the paths of their fields; ``node`` is where it is written."""

    select: Mapping[str, str]
    paths: tuple[str, ...]
    node: Node


@dataclass(frozen=True, slots=True)
class Replacement:
    """One entry of ``replacements``."""

    file: str
    source: Mapping[str, str]
    path: str
    targets: tuple[Target, ...]
    node: Node


def read(parent: Fields, node: Node, path: str, sources: Sources) -> list[Replacement]:
    """Read one entry of ``replacements`` of a kustomization, or those of the file that it names."""
    fields = Fields(node, parent.file, "replacements", parent.problems)
    path_node = fields.anything("path")
    if path_node is None:
        listed = [_read(fields, node, path)]
    else:
        fields.done()
        name = fields.find_file(path_node, "path", dirname(path), sources)
        if name is None:
            return []
        file = sources.resolve(name)
        shown = sources.shown(file)
        roots = [document.root for document in sources.documents(file)]
        if len(roots) != 1 or not isinstance(roots[0], SequenceNode):
            raise InputError(Problem("must hold one list of replacements", file=shown))
        listed = [_read(Fields(item, shown, "", parent.problems), item, file) for item in items(roots[0])]
    return [replacement for replacement in listed if replacement]


def _read(fields: Fields, node: Node, file: str) -> Replacement | None:
    source, path = {}, ""
    if child := fields.child("source"):
        source = {word: text for word in selector.WORDS if (text := child.text(word, ""))}
        path = child.text("fieldPath", "metadata.name")
        child.done()
    else:
        fields.fault(node, "source", "is missing")
    targets = []
    for item in fields.items("targets"):
        target = Fields(item, fields.file, f"{fields.path}.targets".strip("."), fields.problems)
        select = selector.read(target, "select")
        paths = target.texts("fieldPaths")
        if select is None or not paths:
            target.fault(item, "", "needs select and fieldPaths")
        target.done()
        targets.append(Target(select or {}, tuple(paths), item))
    fields.done()
    return Replacement(file, source, path, tuple(targets), node) if source and targets else None


def find_source(replacement: Replacement, roots: Sequence[MappingNode]) -> Node:
    """Return the value to copy; exactly one object must be its source."""
    source, complaint = replacement.source, replacement.node.problem
    matches = [root for root in roots if selector.selects(source, root, selector.identity(root), is_exact=True)]
    if len(matches) != 1:
        words = ", ".join(f"{word} {text}" for word, text in source.items())
        raise InputError(complaint(f"{len(matches)} objects are the source ({words}) where one is expected"))
    parts = list(_follow(matches[0], steps(replacement.path), is_exact=True))
    parts = [part for part in parts if not is_null(part.value) and to_value(part.value) not in ({}, [])]
    if len(parts) != 1:
        raise InputError(complaint(f"the source has {len(parts)} values at {replacement.path} where one is expected"))
    return parts[0].value


def replace(root: MappingNode, target: Target, value: Node) -> None:
    """Put a value into the fields of an object."""
    for path in target.paths:
        if not (parts := list(_follow(root, steps(path)))):
            raise InputError(target.node.problem(f"{root.text('kind')} has nothing at {path}"))
        for part in parts:
            part.value = _of_type(part.value, value)
            part.comment = None


def _of_type(old: Node, new: Node) -> Node:
    """Return what takes the place of a value; kustomize gives a scalar the type of the one that it replaces."""
    if not isinstance(old, Scalar):
        return clone(new)
    is_text = type_of(old) == "string"
    if not isinstance(new, Scalar) or not (is_text or implicit_type(new.value) == type_of(old)):
        raise InputError(new.problem(f"kustomize cannot put this in place of {old.value!r}: it is no {type_of(old)}"))
    copied = scalar(new.value, new.source.name, None if is_text else new.value)
    copied.comment = new.comment
    return copied


def steps(path: str) -> list[str]:
    """Split a path at its dots; those in brackets and those behind a backslash do not split."""
    pieces = filter(None, _DOT.split(path))
    keys = (piece if "=" in piece or "." not in piece else piece.strip("[]") for piece in pieces)
    return [key.replace("\\.", ".") for key in keys] or [path]


def _follow(node: Node, way: Sequence[str], *, is_exact: bool = False) -> Iterator[Child]:
    """Yield what is at the end of the steps below a node."""
    step, *below = way
    for part in _children(node, step, is_exact=is_exact):
        if not below:
            yield part
        else:
            yield from _follow(part.value, below, is_exact=is_exact)


def _children(node: Node, step: str, *, is_exact: bool) -> list[Child]:
    if entry := node.entry(step):
        return [entry]
    children = node.items if isinstance(node, SequenceNode) else []
    if step in ("*", "-"):
        return [*children] if step == "*" else [*children[-1:]]
    if match := _STEP.match(step):
        key, wanted = match.groups()
        fits = str.__eq__ if is_exact else _is_like
        pairs = [(item, item.value.get(key) if key else item.value) for item in children]
        return [item for item, node in pairs if isinstance(node, Scalar) and fits(wanted, node.value)]
    return [children[int(step)]] if step.isdigit() and int(step) < len(children) else []


def _is_like(pattern: str, text: str) -> bool:
    """Say whether a text has what a regular expression describes somewhere."""
    try:
        return regexp.matches(pattern, text)
    except regexp.PatternError:
        return False
