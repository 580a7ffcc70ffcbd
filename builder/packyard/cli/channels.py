"""The channel that a command line names, and how long it may take to answer."""

from __future__ import annotations

import os

from packyard.channel import stores
from packyard.channel.stores import Store
from packyard.errors import UsageError

#: The variable that says how many seconds a request may take.
TIMEOUT = "PACKYARD_TIMEOUT"
_MOST = 86_400.0


def open_channel(address: str) -> Store:
    """Open a channel; each request may take PACKYARD_TIMEOUT seconds, if that is set."""
    return stores.open_store(address, patience=_patience(os.environ.get(TIMEOUT, "")))


def _patience(text: str) -> float:
    try:
        seconds = float(text or stores.PATIENCE)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MOST:
        raise UsageError(f"{TIMEOUT}: must be a number of seconds up to {_MOST:.0f}, found {text!r}")
    return seconds
