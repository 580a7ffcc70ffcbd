"""What else a kustomization does to its objects: ``labels`` without selectors, and ``images``.

    labels: [{pairs: {team: ads}}]                    metadata.labels of every object
    images: [{name: nginx, newTag: "1.26"}]           nginx:1.25 of every container becomes nginx:1.26

They work like patches of whatever objects there are, after the patches of the kustomization. A field that a setter
sets has its value from there, so that an entry of ``images`` for it is refused.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.kubernetes import images, pods
from packyard.core.yaml import make
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.pointer import escaped, pointer
from packyard.core.yaml.values import flag
from packyard.using.kustomize.selector import Identity
from packyard.writing.source.pod_operations import is_bound

#: The JSON pointers of an object that an entry changes, each with its new value.
_Change = Callable[[MappingNode], Iterator[tuple[str, Node]]]
#: The fields that are read here.
KEYS = ("labels", "images")
_INCLUDES = ("includeSelectors", "includeTemplates")


@dataclass(frozen=True, slots=True)
class Transformer:
    """An entry, as what it does to objects; it is written in ``path``, at ``line``."""

    path: str
    file: str
    line: int
    word: str
    change: _Change
    targets: tuple[Mapping[str, str], ...] = ()

    @property
    def keys(self) -> list[tuple[str, int, str]]:
        """Where it is written, and what it is for."""
        return [(self.path, self.line, self.word)]

    def operations(self, root: MappingNode, _: Identity) -> tuple[SequenceNode, list[tuple[str, int, str]]] | None:
        """Return what is done to an object; None where that is nothing."""
        listed = [
            make.mapping(self.file, {"op": "add", "path": path, "value": value}) for path, value in self.change(root)
        ]
        return (make.sequence(self.file, (Item(item, 0) for item in listed)), self.keys) if listed else None


def read(parent: Fields, path: str) -> list[Transformer]:
    """Read the entries of a kustomization."""
    return [
        Transformer(path, parent.file, node.source.locate(node.start)[0], word, change)
        for key, of in zip(KEYS, (_labels, _images), strict=True)
        for node in parent.items(key)
        for word, change in [of(Fields(node, parent.file, key, parent.problems))]
    ]


def _labels(fields: Fields) -> tuple[str, _Change]:
    pairs = fields.mapping("pairs")
    for key in _INCLUDES:
        if (node := fields.anything(key)) and flag(node) is not False:
            hint = "write the labels of pods and selectors into the manifests"
            fields.fault(node, key, "packyard does not compose it", hint)
    fields.done()

    def change(root: MappingNode) -> Iterator[tuple[str, Node]]:
        metadata = root.mapping("metadata")
        if metadata and metadata.mapping("labels") is None:
            yield "/metadata/labels", make.mapping(fields.file, {})
        yield from ((f"/metadata/labels/{escaped(name)}", value) for name, value in pairs.items())

    return ", ".join(pairs), change


def _images(fields: Fields) -> tuple[str, _Change]:
    name = fields.text("name")
    new = {key: text for key in ("newName", "newTag", "digest") if (text := fields.text(key, ""))}
    fields.done()

    def change(root: MappingNode) -> Iterator[tuple[str, Node]]:
        for place, container in (pair for pod in pods.find(root) for pair in pod.container_places):
            entry = container.entry("image")
            if entry is None or not isinstance(entry.value, Scalar) or images.parse(entry.value.value).name != name:
                continue
            if is_bound(entry):
                hint = "give the setter its value in package.yaml"
                raise InputError(entry.value.problem(f"a setter sets this image, and images of {fields.file}", hint))
            yield f"{pointer(place)}/image", make.scalar(images.replaced(entry.value.value, new), fields.file)

    return f"image {name!r}", change
