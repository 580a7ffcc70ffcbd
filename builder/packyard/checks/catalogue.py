"""Faults between the use cases of a catalogue: two objects with one name overwrite each other in one namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packyard.checks.finding import Finding
from packyard.checks.parsed import Parsed
from packyard.kubernetes.kinds import LASTING, kind_of, name_of


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
    for root in parsed.objects:
        metadata, name = root.mapping("metadata"), name_of(root)
        if metadata and name and name.value and kind_of(root) not in LASTING:
            line, column = name.source.locate(name.start)
            yield Named(*kind_of(root), metadata.text("namespace"), name.value, name.source.name, line, column)


def check(named: Iterable[Named]) -> Iterator[Finding]:
    """Find objects of different use cases that are shipped with the same kind and name."""
    seen: dict[tuple[str, ...], Named] = {}
    for each in named:
        first = seen.setdefault(each[:4], each)
        if first.file.rpartition("/")[0] != each.file.rpartition("/")[0]:
            yield Finding(
                file=each.file,
                line=each.line,
                column=each.column,
                rule="shared-name",
                severity="error",
                message=f"another use case has {each.kind} {each.name!r} too: one overwrites the other in a namespace",
                hint=f"also at {first.file}:{first.line}",
            )
