"""How long ago something was, in few characters: 45s, 12m, 3h5m, 2d4h."""

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
    """Return the time since a moment, which is ISO 8601, as kubectl would write it; ``?`` for anything else."""
    if isinf(since_then := seconds_since(since)):
        return "?"
    return words(since_then)


def words(time: float) -> str:
    """Return a time in seconds as kubectl would write it."""
    seconds = int(time)
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    parts = []
    for unit, size in _UNITS:
        if count := seconds // size:
            parts.append(f"{count}{unit}")
        seconds %= size
        if len(parts) == 2 or count > 9:
            break
    return "".join(parts)
