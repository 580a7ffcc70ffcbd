"""The checksum file beside each bundle, for ``sha256sum -c``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem

if TYPE_CHECKING:
    from packyard.sharing.entry import IndexEntry

LIMIT = 4096
"""The size of the largest checksum file, in bytes."""

_LINE = re.compile(rb"([0-9a-f]{64}) [ *][^\n]+\r?\n?")


def line(entry: IndexEntry) -> bytes:
    """Return the file's one line, ``<hex>  <name>.tar.gz``."""
    return f"{entry.digest.hex}  {entry.name}.tar.gz\n".encode()


def parse(data: bytes, *, what: str) -> Digest:
    """Read the digest from a checksum file that `line` or ``sha256sum`` wrote for one file."""
    match = _LINE.fullmatch(data)
    if match is None:
        raise IntegrityError(Problem("must be the checksum of one file", file=what))
    return Digest("sha256:" + match[1].decode())
