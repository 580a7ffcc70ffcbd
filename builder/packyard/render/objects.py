"""Kubernetes objects from YAML files, with the values that kustomize reads: anchors and merge keys are resolved.

An object knows where it came from; its values are plain Python ones. What kustomize refuses, or what we do not read as
it does, is refused by file and line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packyard.errors import InputError, Problem
from packyard.yaml import aliases, strict
from packyard.yaml.node import MappingNode, Node, Scalar, SequenceNode, Source
from packyard.yaml.strict import Value
from packyard.yaml.values import is_null


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
        value = strict.to_value(node)
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
    for document in aliases.read(source):
        if document.root is not None and not is_null(document.root):
            found += _objects(strict.to_value(document.root), document.root, keep=to_patch)
    return found


def _objects(value: Value, root: Node, *, keep: bool) -> Iterator[Object]:
    line, _ = root.source.locate(root.start)
    if not isinstance(value, dict):
        raise InputError(Problem("must be a Kubernetes object", file=root.source.name, line=line))
    found = Object(value, root.source.name, line, root if keep and isinstance(root, MappingNode) else None)
    if not found.kind:
        raise InputError(found.problem("an object without a kind"))
    items = value.get("items")
    if found.kind.endswith("List") and "items" in value:
        if not isinstance(items, list) and items is not None:
            raise InputError(found.problem(f"items of {found.kind} must be a list"))
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
                raise InputError(found.problem(f"annotation {name!r} must be text", "write it out, in quotes"))


def _text(value: Value) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)
