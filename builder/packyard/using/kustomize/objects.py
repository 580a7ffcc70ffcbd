"""Kubernetes objects from YAML files, with the values that kustomize reads: anchors and merge keys are resolved.

While a kustomization is built its objects are nodes; their values are read once, at the end. What kustomize refuses,
or what we do not read as it does, is refused by file and line.
"""

import re
from collections.abc import Iterator

from packyard.core.errors import BeyondError, InputError
from packyard.core.kubernetes import lenient
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import items as nodes_of
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.strict import Value
from packyard.core.yaml.values import is_null
from packyard.using.kustomize import selector

#: What a folded text has that kustomize writes with more line breaks than it read.
_UNFOLDED = re.compile(r"(?:\A|\n)[ \t]|\S\n\n\Z")


def values(node: MappingNode) -> dict[str, Value]:
    """Return an object as values."""
    value = strict.to_value(node)
    assert isinstance(value, dict)
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and not annotations:
        metadata.pop("annotations", None)
    for name, text in annotations.items() if isinstance(annotations, dict) else ():
        if not isinstance(text, str):
            message = f"annotation {name!r} must be text, and kustomize makes text of it in its own way"
            place = node.find("metadata", "annotations", name) or node
            raise BeyondError(place.problem(message, "put it in quotes"))
    return value


def parse(source: Source) -> list[dict[str, Value]]:
    """Read every object of a file; lists of objects are taken apart, empty documents are passed over."""
    return [values(node) for node in read(source)]


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
    value = values(root)
    _, kind, _, name = identity = selector.identity(root)
    if any(node and node.get("<<") is not None for node in (root, root.mapping("metadata"))):
        space = lenient.text(lenient.mapping(value.get("metadata")).get("namespace"))
        if (*lenient.type_of(value), space, lenient.name_of(value)) != identity:
            raise BeyondError(root.problem("merge keys say what the object is called, which only kustomize follows"))
    if not kind:
        raise InputError(root.problem("an object without a kind"))
    if kind.endswith("List") and (items := root.get("items")) is not None:
        if not isinstance(items, SequenceNode) and not is_null(items):
            raise InputError(root.problem(f"items of {kind} must be a list"))
        for node in nodes_of(items):
            yield from _objects(node)
        return
    if not name and not kind.endswith("List"):
        raise InputError(root.problem(f"{kind} without metadata.name"))
    yield root
