"""Parts that are taken as they were, and the use cases that they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import relpath

from packyard.core.kubernetes import kustomization
from packyard.core.yaml import layout, make
from packyard.core.yaml.node import Comment, Entry, Item, MappingNode
from packyard.writing.authoring.import_ import licenses
from packyard.writing.authoring.import_.meaning import Word

_BASES, _OVERLAYS = "bases", "overlays/programs"


@dataclass(slots=True)
class CopiedPart:
    """A part as it was: what it builds on, its own files, and what its kustomization says beside."""

    source: str
    kind: str
    folder: str = ""  # in the workspace, once it is named
    resources: list[CopiedPart] = field(default_factory=list)
    components: list[CopiedPart] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    listed: list[Item] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)  # patches and replacements
    head: Sequence[Comment] = ()
    words: dict[str, Word] = field(default_factory=dict)

    def all(self) -> Iterator[CopiedPart]:
        """Yield all that it builds on, and the part itself."""
        for part in (*self.resources, *self.components):
            yield from part.all()
        yield self

    def write(self, says: str) -> dict[str, bytes]:
        """Return its files; ``says`` is what it is, where its author says nothing."""
        root = make.mapping("", {"apiVersion": kustomization.VERSIONS[self.kind], "kind": self.kind})
        listed = [listing(relpath(part.folder, self.folder)) for part in self.resources]
        listed += [make.like(item, make.clone) for item in self.listed]
        components = [listing(relpath(part.folder, self.folder)) for part in self.components]
        for key, items in (("resources", listed), ("components", components)):
            root.entries += [make.entry(key, make.sequence("", items))] if items else []
        root.entries += self.entries
        notice, prose = licenses.split(self.head)
        head = prose if any(each.text.strip("#- ") for each in prose) else [Comment(f"# {says}", 0, 0, own_line=True)]
        return {kustomization.FILE: layout.write(root, head=head, tail=notice), **self.files}


@dataclass(frozen=True, slots=True)
class Copy:
    """A use case that is one part with all that it builds on, and the objects that kustomize builds of it."""

    path: str
    part: CopiedPart
    namespace: str
    objects: tuple[MappingNode, ...]


def listing(text: str) -> Item:
    """Return an item of a list of paths."""
    return Item(make.scalar(text, ""), 0)


def name(parts: Iterable[CopiedPart], stem: str) -> None:
    """Give parts folders in a workspace: that of a package, and as much of their own as tells them apart."""
    taken: set[str] = set()
    for part in parts:
        above = _OVERLAYS if part.kind == "Component" else _BASES
        steps = [re.sub(r"[^a-z0-9]+", "-", step.lower()).strip("-") for step in part.source.split("/")]
        steps = [step for step in steps if step] or ["base"]
        names = ["-".join(steps[-length:]) for length in range(1, len(steps) + 1)]
        names += [f"{names[-1]}-{number}" for number in range(2, len(taken) + 3)]
        part.folder = next(path for each in names if (path := f"{above}/{stem}-{each}") not in taken)
        taken.add(part.folder)
