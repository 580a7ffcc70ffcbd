"""What a kustomization is as a value, whoever read it: its objects, what it builds on, and what it changes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import join
from typing import Protocol

from packyard.core.errors import Problem
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.node import Comment, Document, MappingNode, Node, SequenceNode
from packyard.using.kustomize.generator import Generated
from packyard.using.kustomize.references import FieldSpec
from packyard.using.kustomize.replacement import Replacement
from packyard.using.kustomize.selector import Identity
from packyard.using.setters.krmfile import KRMFILE

#: A Krmfile's name and bytes.
KrmfileData = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry of ``patches``: what it does, and the objects that it is for (None: the one that it names itself).

    ``entry`` is where it is listed, ``file`` the file that it names, if it does. It is written in the file ``path``, an
    inline one at ``line``.
    """

    document: Document
    target: Mapping[str, str] | None
    entry: Node
    path: str = ""
    line: int = 0
    file: str | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        """Where the patch is written, and what it selects."""
        return self.path, self.line, ", ".join(f"{key} {text!r}" for key, text in (self.target or {}).items())

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the patch as a whole, by where it begins."""
        root = self.document.root
        line = root.source.locate(root.start)[0] if root else 0
        return Problem(message, file=self.document.source.name, line=line, hint=hint)


class Pods(Protocol):
    """A patch of the pods of whatever objects there are, one of ``keys`` for each thing that it has to reach."""

    @property
    def path(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def targets(self) -> Sequence[Mapping[str, str]]: ...
    @property
    def keys(self) -> Sequence[tuple[str, int, str]]: ...
    def operations(
        self, root: MappingNode, identity: Identity
    ) -> tuple[SequenceNode, Collection[tuple[str, int, str]]] | None:
        """Return what is done to an object, and which keys that stands for; None where it has no such pods."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization: a base, an overlay, or what a use case adds itself; ``head`` is how it begins, in comments."""

    folder: str
    files: tuple[str, ...] = ()  # its own resources
    objects: tuple[tuple[str, MappingNode], ...] = ()  # in these, each with the stem of its file
    resources: tuple["Part", ...] = ()
    components: tuple["Part", ...] = ()
    generated: tuple[Generated, ...] = ()
    configurations: tuple[str, ...] = ()  # files that say where objects are named
    references: tuple[FieldSpec, ...] = ()  # the fields that they say to name ConfigMaps
    patches: tuple[Patch, ...] = ()
    pods: tuple[Pods, ...] = ()  # after these
    replacements: tuple[Replacement, ...] = ()
    krmfile: KrmfileData | None = None
    head: tuple[Comment, ...] = ()
    namespace: str = ""  # as `kustomize edit set namespace` writes it
    size: int = 1  # parts that it is made of, each as often as it is named

    def parts(self) -> Iterator["Part"]:
        """Yield everything that this is made of, in the order of composition, and last itself."""
        for part in (*self.resources, *self.components):
            yield from part.parts()
        yield self

    def krmfiles(self) -> Iterator[KrmfileData]:
        """Yield the Krmfiles of everything that this is made of, in the order of composition."""
        yield from (part.krmfile for part in self.parts() if part.krmfile)

    def own_files(self) -> set[str]:
        """Return the files in its folder that its kustomization names, and those that say what it is."""
        generated = (join(self.folder, file) for generated in self.generated for file in generated.files)
        names = {*self.files, *self.configurations, *generated}
        names |= {patch.file for patch in self.patches if patch.file}
        names |= {replacement.file for replacement in self.replacements} | {pod.path for pod in self.pods}
        return names | {join(self.folder, name) for name in (*kustomization.NAMES, KRMFILE)}

    @property
    def description(self) -> str:
        """What the comment that begins its kustomization says."""
        return " ".join(comment.text.removeprefix("#").strip() for comment in self.head)
