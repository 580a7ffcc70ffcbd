"""The documents of YAML files in memory, and which of two versions of a folder are the same object."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename

from packyard.core.kubernetes.kinds import called, kind_of, name_of, namespace_of
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import source_of
from packyard.core.yaml.node import MappingNode, Node
from packyard.using.setters import fields


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file: what says which object it is, if it is one, and the setters of its fields.

    ``setters`` are the names in setter comments by the identity of the node that each binds.
    """

    file: str
    root: Node
    identity: tuple[str, ...]
    setters: Mapping[int, str]

    @property
    def name(self) -> str:
        """The object by kind and name; what is none has its file's name."""
        return " ".join(self.identity[1::2]) if self.identity else basename(self.file)


def read(data: bytes, file: str) -> list[Document]:
    """Read the documents of a file, all of whose values `kustomize build` can read."""
    documents = []
    for document in aliases.read(source_of(data, file)):
        if document.root is not None:
            strict.to_value(document.root)
            setters = {id(bound.node): bound.reference.name for bound in fields.find(document.root)}
            documents.append(Document(file, document.root, _identity(document.root), setters))
    return documents


def _identity(root: Node) -> tuple[str, ...]:
    """Return group, kind, namespace and name of an object, or nothing."""
    if not isinstance(root, MappingNode) or name_of(root) is None:
        return ()
    return *kind_of(root), namespace_of(root), called(root)


def pair(old: Sequence[Document], new: Sequence[Document]) -> Iterator[tuple[Document | None, Document | None]]:
    """Pair the documents of a folder: the same object, in whatever file, and one with another name in the same file."""
    keys: tuple[Callable[[Document], object], ...] = (
        lambda item: item.identity or item.file,
        lambda item: (item.file, item.identity[:2]),
    )
    for key in keys:
        waiting: defaultdict[object, deque[Document]] = defaultdict(deque)
        for document in new:
            waiting[key(document)].append(document)
        unpaired = []
        for document in old:
            if same := waiting[key(document)]:
                yield document, same.popleft()
            else:
                unpaired.append(document)
        old, new = unpaired, [document for same in waiting.values() for document in same]
    yield from ((document, None) for document in old)
    yield from ((None, document) for document in new)
