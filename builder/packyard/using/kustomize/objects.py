"""Kubernetes objects from YAML files, with the values that kustomize reads: anchors and merge keys are resolved.

An object knows where it came from; its values are plain Python ones. What kustomize refuses, or what we do not read as
it does, is refused by file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from packyard.core.errors import BeyondError, InputError, Problem
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import walk
from packyard.core.yaml.make import copy
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.strict import Value
from packyard.core.yaml.values import is_null
from packyard.using.kustomize.selector import Identity, effective

#: What a folded text has that kustomize writes with more line breaks than it read.
_UNFOLDED = re.compile(r"(?:\A|\n)[ \t]|\S\n\n\Z")


@dataclass(slots=True)
class Object:
    """A Kubernetes object and the place that it was read from; ``root`` may be changed, patches change ``node``."""

    root: dict[str, Value]
    file: str
    line: int
    node: MappingNode

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
    def namespace(self) -> str:
        """The object's namespace; empty where it names none."""
        return _text(self.metadata.get("namespace"))

    @property
    def identity(self) -> Identity:
        """What the object is called."""
        return self.api_version, self.kind, self.namespace, self.name

    @property
    def effective(self) -> Identity:
        """The same as kustomize compares it."""
        return effective(self.identity)

    def refresh(self, node: MappingNode, *, operated: bool) -> None:
        """Take the values of a node that a patch made of the object's; ``operated`` says that it is RFC 6902."""
        value = strict.to_value(node)
        assert isinstance(value, dict)
        self.root, self.node = value, node
        if operated:
            _rewrite_annotations(self, node, _as_yaml)
        _write_out_annotations(self, node)

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the object, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


def parse(source: Source) -> list[Object]:
    """Read every object of a file; lists of objects are taken apart, empty documents are passed over."""
    objects: list[Object] = []
    alone = "\n---" not in source.text
    for document in aliases.read(source):
        if document.root is not None and not is_null(document.root):
            for node in walk(document.root):
                if isinstance(node, Scalar) and node.style == ">" and _UNFOLDED.search(node.value):
                    message = "kustomize adds line breaks to a folded text with lines that begin with blanks"
                    raise BeyondError(node.problem(f"{message}, or several at its end", "write it as a block: |"))
            objects += _objects(strict.to_value(document.root), document.root, alone=alone)
    return objects


def _objects(value: Value, root: Node, *, alone: bool, listed: bool = False) -> Iterator[Object]:
    """Yield an object, or those of a list; ``alone`` says that the file has no other document."""
    line, _ = root.source.locate(root.start)
    if not isinstance(value, dict) or not isinstance(root, MappingNode):
        raise InputError(Problem("must be a Kubernetes object", file=root.source.name, line=line))
    item = Object(value, root.source.name, line, root)
    if not item.kind:
        raise InputError(item.problem("an object without a kind"))
    items = value.get("items")
    if item.kind.endswith("List") and "items" in value:
        if not isinstance(items, list) and items is not None:
            raise InputError(item.problem(f"items of {item.kind} must be a list"))
        nodes = root.get("items")
        inner = [node.value for node in nodes.items] if isinstance(nodes, SequenceNode) else [root] * len(items or ())
        for member, node in zip(items or (), inner, strict=True):
            yield from _objects(member, node, alone=alone, listed=True)
        return
    if not item.name and not item.kind.endswith("List"):
        raise InputError(item.problem(f"{item.kind} without metadata.name"))
    if root.text("kind") == item.kind:
        if listed and not alone:
            _rewrite_annotations(item, root, _as_json)
        _write_out_annotations(item, root)
    yield item


def _rewrite_annotations(item: Object, root: MappingNode, write: Callable[[Value], str]) -> None:
    """Write annotations anew, as kustomize does those of a list's item in a file of several documents, and those of an
    object that RFC 6902 operations were applied to: 0x10 becomes 16.
    """
    annotations = item.metadata.get("annotations")
    values = annotations if isinstance(annotations, dict) else {}
    written = root
    for name in ("metadata", "annotations"):  # which other fields may repeat by an alias
        entry = written.entry(name)
        if entry is None or not isinstance(entry.value, MappingNode):
            return
        entry.value = written = copy(entry.value)
    for entry in written.entries:
        old, value = entry.value, values.get(entry.name)
        if isinstance(old, Scalar):
            text = value if isinstance(value, str) else write(value)
            entry.value = Scalar(old.source, old.start, old.end, text, '"', None, None)


def _as_json(value: Value) -> str:
    """Write a value as Go does in JSON: 1e20 has all its digits."""
    return _digits(value, -6, 21).replace("e-0", "e-") if isinstance(value, float) else json.dumps(value)


def _as_yaml(value: Value) -> str:
    """Write a value as yaml.v3 does that was read from JSON, where every number is a float: 1000000 becomes 1e+06."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _digits(float(value), -4, 6)
    return json.dumps(value)


def _digits(number: float, low: int, high: int) -> str:
    """Write a number with an exponent only where that is not from ``low`` up to ``high``."""
    decimal = Decimal(repr(number)).normalize()
    if low <= decimal.adjusted() < high:
        return f"{decimal:f}"
    return f"{number:.{len(decimal.as_tuple().digits) - 1}e}"


def _write_out_annotations(item: Object, root: MappingNode) -> None:
    """Make every annotation text, as it is written, and drop an empty mapping of them: kustomize does."""
    annotations = item.metadata.get("annotations")
    if not annotations:
        item.metadata.pop("annotations", None)
    written = root.mapping("metadata", "annotations")
    if isinstance(annotations, dict):
        for entry in written.entries if written else ():
            if isinstance(entry.value, Scalar) and entry.name in annotations:
                annotations[entry.name] = entry.value.value
        for name, value in annotations.items():
            if not isinstance(value, str):
                raise InputError(item.problem(f"annotation {name!r} must be text", "write it out, in quotes"))


def _text(value: Value) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)
