"""What a host is told of an object as it is uploaded: its content type, and how long caches may keep it.

A bundle's type is one that no host takes for compressed text: what a browser unpacked on the way has another digest.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".sha256": "text/plain; charset=utf-8",
}
_BYTES = "application/octet-stream"
#: What never changes: shards and records, by their digests, and what lies in the folder of a version.
_IMMUTABLE = re.compile(r"index/(p/[^/]+/)?[0-9a-f]{64}\.json|v?\d[^/]*/[^/]+\.tar\.gz.*")


def content_type(key: str) -> str:
    """Return the media type of an object."""
    return _TYPES.get(PurePosixPath(key).suffix, _BYTES)


def cache_control(key: str) -> str:
    """Return how long caches may keep an object: for ever, or never without asking."""
    return "public, max-age=31536000, immutable" if _IMMUTABLE.fullmatch(key) else "no-cache"
