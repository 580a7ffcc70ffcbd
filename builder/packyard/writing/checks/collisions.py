"""Faults between the use cases of a catalogue: objects that overwrite each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packyard.core.errors import Problem
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.kubernetes.kinds import LASTING, kind_of, name_of, namespace_of
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.parsed import Parsed

#: The rules of `check`, which only all packages of a workspace together can show to be kept.
BETWEEN = ("shared-name",)
#: What to do where only one of the use cases is deployed at a time.
_ALTERNATIVES = (
    "; give each its own name or namespace, or say in packyard.yaml that only one of them is deployed at a time:"
    " lint: {shared-name: {severity: off, reason: ...}}"
)
#: What keeps the use cases of one name apart, a folder for each storage.
_OF_STORAGE = (
    "; if their storages differ, define STORAGE_NAME as a substitution in the Krmfile of each storage,"
    " and put ${STORAGE_NAME} into the pattern of the name, as that of INSTANCE_NAME"
)


class Named(NamedTuple):
    """An object by kind and name, and the place of its name."""

    group: str
    kind: str
    namespace: str
    name: str
    file: str
    line: int
    column: int


def names(parsed: Parsed) -> Iterator[Named]:
    """Yield the objects of a package that one run has for itself."""
    for build in parsed.builds:
        own = next((text for kustomization in build.kustomizations if (text := kustomization.text("namespace"))), "")
        for root in build.objects:
            name = name_of(root)
            if name and name.value and kind_of(root) not in LASTING:
                line, column = name.source.locate(name.start)
                is_everywhere = is_cluster_scoped(root.text("apiVersion"), root.text("kind"))
                space = "" if is_everywhere else own or namespace_of(root)
                yield Named(*kind_of(root), space, name.value, name.source.name, line, column)


def check(named: Iterable[Named]) -> Iterator[Finding]:
    """Find objects of different use cases that are shipped with the same kind and name, and for the same namespace.

    Only who deploys both side by side loses one: overlays that are alternatives are meant to be so.
    """
    seen: dict[tuple[str, ...], Named] = {}
    for item in named:
        first = seen.setdefault(item[:4], item)
        folders = [named.file.rpartition("/")[0] for named in (first, item)]
        if folders[0] != folders[1]:
            above = {folder.rpartition("/")[0] for folder in folders}
            is_storage = len(above) == 1 and above != {""}
            message = f"another use case has {item.kind} {item.name!r} too: one overwrites the other in a namespace"
            hint = f"also at {first.file}:{first.line}{_ALTERNATIVES}{_OF_STORAGE if is_storage else ''}"
            problem = Problem(message, file=item.file, line=item.line, column=item.column, hint=hint)
            yield finding("shared-name", problem)
