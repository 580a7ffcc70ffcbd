"""Unpacking as bundles do it: expanded and checked first, and then written as one new directory."""

from __future__ import annotations

from pathlib import Path

from packyard.bundle.archive import LIMITS, Limits, decompress, read_tar, write


def unpack(data: bytes, into: Path, *, top: str | None, limits: Limits = LIMITS) -> Path:
    return write(*read_tar(decompress(data, limits=limits), top=top, limits=limits), into)
