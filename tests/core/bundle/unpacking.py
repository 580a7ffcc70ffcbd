"""Bundles read and unpacked without a manifest."""

from __future__ import annotations

from pathlib import Path

from packyard.core.bundle import archive
from packyard.core.bundle.archive import LIMITS, Limits, Member, decompress


def read(data: bytes, *, limits: Limits = LIMITS) -> list[Member]:
    """Return the files of a ``.tar.gz``."""
    return archive.read(decompress(data, limits=limits), limits=limits)[1]


def unpack(data: bytes, into: Path, *, top: str | None, limits: Limits = LIMITS) -> Path:
    """Unpack a ``.tar.gz`` into a folder."""
    name, members = archive.read(decompress(data, limits=limits), top=top, limits=limits)
    return archive.write(name, members, into)
