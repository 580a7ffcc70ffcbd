"""How long ago something was, in few characters: 45s, 12m, 30h, 2d."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isinf

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def seconds_since(since: str) -> float:
    """Return how long ago a moment was, which is ISO 8601; without end for anything else."""
    try:
        then = datetime.fromisoformat(since.replace("Z", "+00:00"))
        return (datetime.now(UTC) - then).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return float("inf")


def age(since: str) -> str:
    """Return the time since a moment, which is ISO 8601, in its largest unit of which it has two; ``?`` for others."""
    seconds = seconds_since(since)
    if isinf(seconds):
        return "?"
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= 2 * size), ("s", 1))
    return f"{max(int(seconds), 0) // size}{unit}"
