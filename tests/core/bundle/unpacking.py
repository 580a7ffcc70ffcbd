"""Unpacking as bundles do it: checked while it is written to a hidden folder, which then gets its name."""

from __future__ import annotations

import io
from pathlib import Path

from packyard.core.bundle.archive import LIMITS, Expanded, Files, Limits, write_all


def unpack(data: bytes, into: Path, *, top: str | None, limits: Limits = LIMITS) -> Path:
    def files() -> Files:
        return Files(Expanded(io.BytesIO(data), len(data), limits=limits), top, limits)

    found = files()
    if top is None:
        for _ in found:
            pass
    return write_all(top or found.top or "", files(), into)
