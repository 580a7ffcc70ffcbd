"""Kubernetes objects from YAML files, with the values that kustomize reads: anchors and merge keys are resolved.

While a kustomization is built its objects are nodes; their values are read once, at the end. What kustomize refuses,
or what we do not read as it does, is refused by file and line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from packyard.core.errors import BeyondError, InputError, Problem
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import items as nodes_of
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.strict import Value
from packyard.core.yaml.values import is_null
from packyard.using.kustomize import selector
from packyard.using.kustomize.selector import Identity

#: What a folded text has that kustomize writes with more line breaks than it read.
_UNFOLDED = re.compile(r"(?:\A|\n)[ \t]|\S\n\n\Z")


@dataclass(slots=True)
class Object:
    """A Kubernetes object as values, which may be changed, and the place that it was read from."""

    root: dict[str, Value]
    file: str
    line: int

    @classmethod
    def of(cls, node: MappingNode) -> "Object":
        """Read the values of a node."""
        value = strict.to_value(node)
        assert isinstance(value, dict)
        item = cls(value, node.source.name, node.source.locate(node.start)[0])
        annotations = item.metadata.get("annotations")
        if not annotations:
            item.metadata.pop("annotations", None)
        for name, text in annotations.items() if isinstance(annotations, dict) else ():
            if not isinstance(text, str):
                message = f"annotation {name!r} must be text, and kustomize makes text of it in its own way"
                raise BeyondError(item.problem(message, "put it in quotes"))
        return item

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
        metadata = self.root.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def name(self) -> str:
        """The object's name."""
        return _text(self.metadata.get("name"))

    @property
    def identity(self) -> Identity:
        """What the object is called."""
        return self.api_version, self.kind, _text(self.metadata.get("namespace")), self.name

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the object, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


def parse(source: Source) -> list[Object]:
    """Read every object of a file; lists of objects are taken apart, empty documents are passed over."""
    return [Object.of(node) for node in read(source)]


def read(source: Source, memo: Memo | None = None) -> list[MappingNode]:
    """Read every object of a file as `parse` does, as nodes; once for a memo."""
    memo = memo or Memo()
    return memo.once(("objects", source.name, source.text), lambda: _read(source, memo))


def _read(source: Source, memo: Memo) -> list[MappingNode]:
    nodes: list[MappingNode] = []
    for document in aliases.read(source, memo):
        if document.root is not None and not is_null(document.root):
            for node in walk(document.root):
                if isinstance(node, Scalar) and node.style == ">" and _UNFOLDED.search(node.value):
                    message = "kustomize adds line breaks to a folded text with lines that begin with blanks"
                    raise BeyondError(node.problem(f"{message}, or several at its end", "write it as a block: |"))
            nodes += _objects(document.root)
    return nodes


def _objects(root: Node) -> Iterator[MappingNode]:
    """Yield an object, or those of a list."""
    if not isinstance(root, MappingNode):
        raise InputError(root.problem("must be a Kubernetes object"))
    item = Object.of(root)
    is_merged = any(node and node.get("<<") is not None for node in (root, root.mapping("metadata")))
    if is_merged and selector.identity(root) != item.identity:
        raise BeyondError(root.problem("merge keys say what the object is called, which only kustomize follows"))
    if not item.kind:
        raise InputError(item.problem("an object without a kind"))
    if item.kind.endswith("List") and root.get("items") is not None:
        items = root.get("items")
        if not isinstance(items, SequenceNode) and not is_null(items):
            raise InputError(item.problem(f"items of {item.kind} must be a list"))
        for node in nodes_of(items):
            yield from _objects(node)
        return
    if not item.name and not item.kind.endswith("List"):
        raise InputError(item.problem(f"{item.kind} without metadata.name"))
    yield root


def _text(value: Value) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)
