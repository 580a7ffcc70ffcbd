"""Kubernetes objects from YAML files, with the values that kustomize reads: anchors and merge keys are resolved.

An object knows where it came from; its values are plain Python ones. What kustomize refuses, or what we do not read as
it does, is refused by file and line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packyard.errors import InputError, Problem
from packyard.render import scalars
from packyard.render.scalars import Plain
from packyard.yaml import aliases
from packyard.yaml.document import check_keys, parse_text
from packyard.yaml.node import Alias, Entry, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.yaml.scalar import implicit_type

#: What a node can be: a scalar, a list, or a mapping by text.
Value = Plain | list["Value"] | dict[str, "Value"]

#: A document whose aliases stand for more values than this is refused.
MAX_VALUES = 100_000
#: So is one that nests deeper by them.
MAX_DEPTH = 200


@dataclass(slots=True)
class Object:
    """A Kubernetes object and the place that it was read from; ``root`` may be changed.

    ``node`` is what patches change, of objects that are read to be patched.
    """

    root: dict[str, Value]
    file: str
    line: int
    node: MappingNode | None = None

    @property
    def api_version(self) -> str:
        """``apps/v1``; the group is empty for ``v1``."""
        return _text(self.root.get("apiVersion"))

    @property
    def kind(self) -> str:
        """``Deployment``."""
        return _text(self.root.get("kind"))

    @property
    def metadata(self) -> dict[str, Value]:
        """The object's metadata."""
        found = self.root.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """The object's name."""
        return _text(self.metadata.get("name"))

    @property
    def namespace(self) -> str:
        """The object's namespace; empty where it names none."""
        return _text(self.metadata.get("namespace"))

    def refresh(self, node: MappingNode) -> None:
        """Take the values of a node that patches made of the object's."""
        value = _Reader().read(node)
        assert isinstance(value, dict)
        self.root, self.node = value, node
        _write_out_annotations(self, node)

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the object, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


def parse(source: Source, *, to_patch: bool = False) -> list[Object]:
    """Read every object of a file; lists of objects are taken apart, empty documents are passed over.

    Objects that are read ``to_patch`` have their nodes, in which aliases are followed.
    """
    found: list[Object] = []
    for document in aliases.read(source) if to_patch else parse_text(source):
        if not to_patch:
            check_keys(document)
        if document.root is not None and not _is_null(document.root):
            found += _objects(_Reader().read(document.root), document.root, keep=to_patch)
    return found


def check(root: Node | None) -> None:
    """Refuse what cannot be read, nests too deep, or stands for too many values."""
    if root is not None:
        _Reader().read(root)


def _objects(value: Value, root: Node, *, keep: bool) -> Iterator[Object]:
    line, _ = root.source.locate(root.start)
    if not isinstance(value, dict):
        raise InputError(Problem("is no Kubernetes object", file=root.source.name, line=line))
    found = Object(value, root.source.name, line, root if keep and isinstance(root, MappingNode) else None)
    if not found.kind:
        raise InputError(found.problem("an object without a kind"))
    items = value.get("items")
    if found.kind.endswith("List") and "items" in value:
        if not isinstance(items, list) and items is not None:
            raise InputError(found.problem(f"items of {found.kind} are no list"))
        nodes = root.get("items") if isinstance(root, MappingNode) else None
        inner = (
            [item.value for item in nodes.items]
            if keep and isinstance(nodes, SequenceNode)
            else [root] * len(items or ())
        )
        for item, node in zip(items or (), inner, strict=True):
            yield from _objects(item, node, keep=keep)
        return
    if not found.name and not found.kind.endswith("List"):
        raise InputError(found.problem(f"{found.kind} without metadata.name"))
    if isinstance(root, MappingNode) and root.text("kind") == found.kind:
        _write_out_annotations(found, root)
    yield found


def _write_out_annotations(found: Object, root: MappingNode) -> None:
    """Make every annotation text, as it is written, and drop an empty mapping of them: kustomize does."""
    annotations = found.metadata.get("annotations")
    if not annotations:
        found.metadata.pop("annotations", None)
    written = root.mapping("metadata", "annotations")
    if isinstance(annotations, dict):
        for entry in written.entries if written else ():
            if isinstance(entry.value, Scalar) and entry.name in annotations:
                annotations[entry.name] = entry.value.value
        for name, value in annotations.items():
            if not isinstance(value, str):
                raise InputError(found.problem(f"annotation {name!r} is no text", "write it out, in quotes"))


class _Reader:
    """Nodes of one document to values; an alias stands for what its anchor was when it was read."""

    def __init__(self) -> None:
        self.anchored: dict[str, Value] = {}
        self.left = MAX_VALUES

    def read(self, node: Node, flow: bool = False, level: int = 0) -> Value:
        value: Value
        if level > MAX_DEPTH:
            raise InputError(node.problem(f"its aliases nest deeper than {MAX_DEPTH} levels"))
        if isinstance(node, Alias):
            return self._resolve(node, level)
        if isinstance(node, Scalar):
            value = scalars.read(node, flow=flow)
        elif isinstance(node, SequenceNode):
            _check_tag(node)
            value = [self.read(item.value, flow or node.flow, level + 1) for item in node.items]
        else:
            assert isinstance(node, MappingNode)
            value = self._mapping(node, flow or node.flow, level + 1)
        if node.anchor:
            self.anchored[node.anchor] = value
        return value

    def _resolve(self, alias: Alias, level: int = 0) -> Value:
        if alias.anchor not in self.anchored:
            raise InputError(alias.problem(f"{alias.lexeme} refers to nothing before it"))
        return self._copy(self.anchored[alias.anchor], alias, level)

    def _copy(self, value: Value, alias: Alias, level: int) -> Value:
        self.left -= 1
        if self.left < 0:
            raise InputError(alias.problem(f"its aliases stand for more than {MAX_VALUES} values"))
        if level > MAX_DEPTH:
            raise InputError(alias.problem(f"its aliases nest deeper than {MAX_DEPTH} levels"))
        if isinstance(value, dict):
            return {key: self._copy(member, alias, level + 1) for key, member in value.items()}
        if isinstance(value, list):
            return [self._copy(member, alias, level + 1) for member in value]
        return value

    def _mapping(self, node: MappingNode, flow: bool, level: int) -> dict[str, Value]:
        _check_tag(node)
        value: dict[str, Value] = {}
        merged: list[Value] = []
        for entry in node.entries:
            key = self._key(entry)
            if key is not None:
                value[key] = self.read(entry.value, flow, level)
                continue
            found = self.read(entry.value, flow, level)
            merged += found if isinstance(found, list) else [found]
        for other in merged:
            if not isinstance(other, dict):
                raise InputError(node.problem("a merge key takes mappings"))
            for name, member in other.items():
                value.setdefault(name, member)
        return value

    def _key(self, entry: Entry) -> str | None:
        """Return a key, which has to be text; None for a merge key."""
        key = entry.key
        if isinstance(key, Alias):
            found = self._resolve(key)
            if isinstance(found, str):
                return found
        if isinstance(key, Scalar):
            if key.value == "<<" and key.style == "plain":
                return None
            if key.anchor:
                self.anchored[key.anchor] = scalars.read(key)
            quoted = key.style != "plain" and key.value != "<<"
            if quoted or implicit_type(key.value) == "string":
                scalars.read(key)  # which refuses characters and tags
                return key.value
        raise InputError(key.problem(f"the key {key.lexeme!r} is no text", "put it in quotes"))


def _check_tag(node: MappingNode | SequenceNode) -> None:
    if node.tag is not None:
        raise InputError(node.problem(f"a collection of type {node.tag!r} cannot be read"))


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.tag is None and node.style == "plain" and scalars.read(node) is None


def _text(value: Value) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)
