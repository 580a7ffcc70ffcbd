"""Bundles read and unpacked without a manifest."""

from pathlib import Path
from unittest import mock

from packyard.core.bundle import archive
from packyard.core.bundle.archive import LIMITS, Limits, Member, decompress


def read(data: bytes, *, limits: Limits = LIMITS) -> list[Member]:
    """Return the files of a ``.tar.gz``."""
    with mock.patch.object(archive, "LIMITS", limits):
        return archive.read(decompress(data))[1]


def unpack(data: bytes, into: Path, *, limits: Limits = LIMITS) -> Path:
    """Unpack a ``.tar.gz`` into a folder."""
    with mock.patch.object(archive, "LIMITS", limits):
        name, members = archive.read(decompress(data))
    return archive.write(name, members, into)
