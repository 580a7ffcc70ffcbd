"""Faults of fields that may not be empty, and for which nobody is asked: an export without a server.

nfs: {server: "", path: /data}        right while a required setter waits for the server, and rejected otherwise
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import CORE, is_kind
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: What the API server rejects when it is empty, by the source of a volume.
_NEEDED = {"nfs": ("server", "path"), "persistentVolumeClaim": ("claimName",)}


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find empty fields that the API server rejects and no required setter fills."""
    for root in parsed.fresh if parsed.complete else ():
        spec = root.mapping("spec") if is_kind(root, CORE, "PersistentVolume") else None
        volumes = [volume for pod in parsed.pods_of(root) for volume in pod.volumes]
        for volume in (*volumes, *([spec] if spec else ())):
            yield from _volume(volume, parsed)


def _volume(volume: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    for source, fields in _NEEDED.items():
        for field in fields:
            node = volume.scalar(source, field)
            if node and not node.value and not parsed.waits(node):
                message = f"{field} of {source} is empty, and no required setter asks for it: the API server rejects it"
                yield breach("empty-field", node, message, "write it, or bind a required setter")
