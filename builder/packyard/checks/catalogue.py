"""Faults between the use cases of a catalogue: two objects with one name overwrite each other in one namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.kubernetes.kinds import LASTING, kind_of, name_of
from packyard.yaml.node import Scalar


def check(packages: Iterable[Parsed]) -> Iterator[Finding]:
    """Find objects of different use cases that are shipped with the same kind and name."""
    seen: dict[tuple[str, ...], Scalar] = {}
    for parsed in packages:
        for root in parsed.objects:
            metadata, name = root.mapping("metadata"), name_of(root)
            group, kind = kind_of(root)
            if not metadata or not name or not name.value or (group, kind) in LASTING:
                continue
            first = seen.setdefault((group, kind, metadata.text("namespace"), name.value), name)
            if first.source.name.rpartition("/")[0] != name.source.name.rpartition("/")[0]:
                message = f"another use case has {kind} {name.value!r} too: in one namespace one overwrites the other"
                hint = f"also at {first.source.name}:{first.source.locate(first.start)[0]}"
                yield error("shared-name", name.source, name.start, message, hint)
