"""The parts that a workspace offers to its packages, and what each needs from the others and defines itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packyard.core.yaml.document import find_comments
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.part import Part
from packyard.using.setters import comment
from packyard.using.setters.definition import Substitution
from packyard.writing.source import parts, words
from packyard.writing.source.words import MARKER
from packyard.writing.source.workspace import OVERLAYS, Workspace

BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A part: ``kind`` is base, storage, programs or options, ``folder`` where it lies, ``objects`` are their kinds.

    ``defines`` are the names of its own Krmfiles; ``needs`` those that its comments and patterns have and neither it
    nor the workspace's Krmfile defines: a storage, a program, or the package has to.
    """

    kind: str
    name: str
    folder: str
    description: str
    objects: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def find(workspace: Workspace) -> list[Offered]:
    """Return all parts: bases first, each kind sorted by name."""
    krmfiles = parts.read_shared(workspace.sources, workspace.libraries)
    shared = frozenset(words.Words(krmfiles, [], {}, workspace.sources.memo).defined)
    offered = [
        _describe(workspace, BASE, name, folder, shared) for name, folder in workspace.part_dirs("bases").items()
    ]
    for kind in OVERLAYS:
        dirs = workspace.part_dirs(f"overlays/{kind}")
        offered += [_describe(workspace, kind, name, folder, shared) for name, folder in dirs.items()]
    return offered


def _describe(workspace: Workspace, kind: str, name: str, folder: str, shared: frozenset[str]) -> Offered:
    sources = workspace.sources
    part = parts.read(sources, folder, "Kustomization" if kind == BASE else "Component")
    defined = {key: word for krmfile in part.krmfiles() for key, word in words.read(krmfile, sources.memo).items()}
    patterns = [word.definition.pattern for word in defined.values() if isinstance(word.definition, Substitution)]
    names = {*_asked(sources, part), *(key for pattern in patterns for key in MARKER.findall(pattern))}
    return Offered(
        kind=kind,
        name=name,
        folder=folder,
        description=part.description,
        objects=tuple(dict.fromkeys(_kinds(part))),
        defines=tuple(sorted(defined)),
        needs=tuple(sorted(names - defined.keys() - shared)),
    )


def _asked(sources: Sources, part: Part) -> Iterator[str]:
    """Yield the names in the comments of a part and of all that it is made of."""
    for each in (*part.resources, *part.components):
        yield from _asked(sources, each)
    named = [*part.files, *(patch.file for patch in part.patches if patch.file), *{each.path for each in part.pods}]
    for document in (found for path in named for found in sources.documents(path)):
        for note in find_comments(document):
            reference = comment.parse(note.text)
            if reference:
                yield reference.name


def _kinds(part: Part) -> Iterator[str]:
    for _, root in part.objects:
        yield root.text("kind")
    for each in part.resources:
        yield from _kinds(each)
