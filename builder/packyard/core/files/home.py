"""The folders that packyard keeps for a user between commands, as the XDG base directory specification places them."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path | None:
    """Return the folder of the cache, or None for a user without a home folder."""
    return _folder("XDG_CACHE_HOME", ".cache")


def state_dir() -> Path | None:
    """Return the folder of what is remembered between commands, or None for a user without a home folder."""
    return _folder("XDG_STATE_HOME", ".local/state")


def config_dir() -> Path | None:
    """Return the folder of the user's configuration, or None for a user without a home folder."""
    return _folder("XDG_CONFIG_HOME", ".config")


def _folder(variable: str, below_home: str) -> Path | None:
    """Return packyard's folder below the one that a variable names, or below the user's home if there is one."""
    base = os.environ.get(variable, "")
    if os.path.isabs(base):  # a text, which may be empty
        return Path(base) / "packyard"
    try:
        home = Path.home() if os.environ.get("HOME") != "" else None
    except RuntimeError:  # a user without a name, as in containers
        home = None
    return home / below_home / "packyard" if home and home.is_absolute() and home.is_dir() else None
