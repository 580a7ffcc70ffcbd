"""How long ago something was, in few characters: 45s, 12m, 30h, 2d."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def age(since: str) -> str:
    """Return the time since a moment, which is ISO 8601, in its largest unit of which it has two; ``?`` for others."""
    try:
        then = datetime.fromisoformat(since)
        seconds = (datetime.now(UTC) - then).total_seconds()
    except (ValueError, TypeError):
        return "?"
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= 2 * size), ("s", 1))
    return f"{max(int(seconds), 0) // size}{unit}"
