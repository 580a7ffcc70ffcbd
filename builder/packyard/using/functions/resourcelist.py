"""A ResourceList (KRM functions, version 1) as text: its items, the function's configuration, and results put into it.

What a function prints is the text that it read with its edits made, and ``results`` at the end: every item keeps its
place, its comments and the annotations by which an orchestrator pairs output with input.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.compare import Planned
from packyard.core.yaml.content import Tree, double, in_brackets, tree
from packyard.core.yaml.document import decode, mappings, parse_text
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import MappingNode, SequenceNode, Source
from packyard.core.yaml.proof import apply_to_text
from packyard.core.yaml.splice import append, remove
from packyard.core.yaml.values import double_quoted, is_null
from packyard.using.setters.comment import is_marked
from packyard.using.setters.kpt.apply import config_text

NAME = "ResourceList"
#: The annotations that pair an output item with its input, so that comments are copied.
ID_ANNOTATIONS = ("internal.config.kubernetes.io/id", "config.k8s.io/id")
#: Those that say where an object is from: the file, and its place there.
PATH_ANNOTATIONS = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
INDEX_ANNOTATIONS = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a function, in the fields of the specification; empty ones are left out."""

    message: str
    severity: str = "info"
    item: "ResourceItem | None" = None
    field_path: str = ""
    values: Mapping[str, str] = field(default_factory=dict)  # currentValue, proposedValue

    def document(self) -> dict[str, object]:
        """Return the result as it is written."""
        fields: dict[str, object] = {"message": self.message, "severity": self.severity}
        if self.item:
            fields["resourceRef"] = self.item.reference
        if self.field_path:
            fields["field"] = {"path": self.field_path, **self.values}
        if self.item and self.item.path:
            fields["file"] = {"path": self.item.path, "index": self.item.index}
        return fields


@dataclass(frozen=True, slots=True)
class ResourceItem:
    """One object of the list, with the file that the orchestrator says it comes from."""

    root: MappingNode

    @property
    def annotations(self) -> MappingNode | None:
        """The mapping of its annotations."""
        return self.root.mapping("metadata", "annotations")

    @property
    def path(self) -> str:
        """The file that it stands in, or an empty text."""
        return self._annotation(PATH_ANNOTATIONS)

    @property
    def index(self) -> int:
        """Its place among the documents of its file."""
        text = self._annotation(INDEX_ANNOTATIONS)
        return int(text) if text.isdecimal() else 0

    @property
    def reference(self) -> dict[str, str]:
        """What names it: apiVersion, kind, name and, if it has one, namespace."""
        reference = {key: self.root.text(key) for key in ("apiVersion", "kind")}
        reference |= {key: self.root.text("metadata", key) for key in ("name", "namespace")}
        return {key: text for key, text in reference.items() if text or key != "namespace"}

    def _annotation(self, names: Iterable[str]) -> str:
        return next((text for name in names if (text := self.root.text("metadata", "annotations", name))), "")


class ResourceList:
    """What a function reads: ``items``, and ``config`` where there is one."""

    def __init__(self, data: bytes) -> None:
        self.mark, text = decode(data, NAME)
        self.source = Source(NAME, text)
        roots = [document.root for document in parse_text(self.source) if document.root is not None]
        if len(roots) != 1 or not isinstance(roots[0], MappingNode) or roots[0].text("kind") != NAME:
            hint = "this is a KRM function: kpt and kustomize start it, with a ResourceList on its standard input"
            raise InputError(Problem(f"standard input must be a {NAME}", hint=hint))
        self.root = roots[0]
        refuse(self._faults())
        self.items = [ResourceItem(item) for item in mappings(self.root.get("items"))]
        self.config = self.root.mapping("functionConfig")

    def _faults(self) -> Iterator[Problem]:
        """Find what is not of the form that the specification gives it."""
        items, config = self.root.get("items"), self.root.get("functionConfig")
        if isinstance(items, SequenceNode):
            for item in items.items:
                if not isinstance(item.value, MappingNode):
                    yield item.value.problem("an item must be an object")
        elif items is not None and not is_null(items):
            yield items.problem("items must be a list")
        if isinstance(config, MappingNode):
            data = config.get("data")
            if data is not None and not isinstance(data, MappingNode) and not is_null(data):
                yield data.problem("the configuration's data must be a mapping")
        elif config is not None and not is_null(config):
            yield config.problem("functionConfig must be an object")

    @property
    def has_setters_of_krmfiles(self) -> bool:
        """Whether a comment may be one of kustomize's setters."""
        return is_marked(self.source.text.encode())

    def values(self) -> dict[str, str]:
        """Return the configuration's values as texts: ``data`` of a ConfigMap, ``spec.setters`` of our own kind."""
        data = self.config.mapping("data") or self.config.mapping("spec", "setters") if self.config else None
        return {entry.name: config_text(entry.value) for entry in data.entries} if data else {}

    def with_results(self, edits: Iterable[Edit], results: Iterable[Result], planned: Planned = ()) -> bytes:
        """Return the list with edits made, which show what is planned, and these results in place of any others."""
        written = {"results": [in_brackets(tree(result.document(), _leaf), double_quoted) for result in results]}
        key = double_quoted if self.root.flow else str
        put = [*remove(self.root, written), *append(self.root, written, gone=written, key=key)]
        text = apply_to_text(self.source, [*edits, *put], planned=planned)
        return (self.mark + text).encode()


def _leaf(value: str | int) -> Tree:
    return double(value) if isinstance(value, str) else str(value)
