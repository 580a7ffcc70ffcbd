"""Faults between the use cases of a catalogue: in one namespace, two that share the name of an object overwrite it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.kubernetes.kinds import CORE, kind_of, of
from packyard.yaml.node import Scalar

#: What use cases share on purpose.
_SHARED = of(CORE, ("PersistentVolumeClaim", "PersistentVolume", "Namespace"))


def check(packages: Iterable[Parsed]) -> Iterator[Finding]:
    """Find objects of different use cases that have one kind and one name, as they are shipped."""
    seen: dict[tuple[str, ...], Scalar] = {}
    for parsed in packages:
        for root in parsed.objects:
            metadata = root.mapping("metadata")
            name = metadata.get("name") if metadata else None
            group, kind = kind_of(root)
            if metadata is None or not isinstance(name, Scalar) or not name.value or (group, kind) in _SHARED:
                continue
            first = seen.setdefault((group, kind, metadata.text("namespace"), name.value), name)
            if first.source.name.rpartition("/")[0] != name.source.name.rpartition("/")[0]:
                message = f"another use case has {kind} {name.value!r} too: in one namespace one overwrites the other"
                hint = f"also at {first.source.name}:{first.source.locate(first.start)[0]}"
                yield error("shared-name", name.source, name.start, message, hint)
