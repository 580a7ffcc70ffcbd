"""The folders that packyard keeps for a user between commands, as the XDG base directory specification places them.

Those of a user without a home folder are below the null device: nothing is there, and nothing can be made there.
"""

import os
from pathlib import Path

from packyard.core.errors import Problem

_NOWHERE = Path(os.devnull)


def cache_dir() -> Path:
    """Return the folder of the cache."""
    return _folder("XDG_CACHE_HOME", ".cache")


def state_dir() -> Path:
    """Return the folder of what is remembered between commands."""
    return _folder("XDG_STATE_HOME", ".local/state")


def config_dir() -> Path:
    """Return the folder of the user's configuration."""
    return _folder("XDG_CONFIG_HOME", ".config")


def lack(folder: Path) -> str:
    """Say why nothing can be kept in one of the folders, as the user has no home folder; nothing where that can be."""
    if _NOWHERE not in folder.parents:
        return ""
    home = os.environ.get("HOME")
    return "this user has no home folder" if home is None else f"HOME is {home!r}, which is not a folder"


def explained(problem: Problem) -> Problem:
    """Return the problem of a file in one of the folders with what the user lacks; another one as it is."""
    if not (why := lack(Path(problem.file))):
        return problem
    hint = "set HOME to a folder of yours, or XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME"
    return Problem(f"packyard can keep nothing: {why}", hint=hint)


def _folder(variable: str, below_home: str) -> Path:
    """Return packyard's folder below the one that a variable names, or below the user's home."""
    base = os.environ.get(variable, "")
    if os.path.isabs(base):  # a text, which may be empty
        return Path(base) / "packyard"
    try:
        home = Path.home() if os.environ.get("HOME") != "" else _NOWHERE
    except RuntimeError:  # a user without a name, as in containers
        home = _NOWHERE
    return (home if home.is_absolute() and home.is_dir() else _NOWHERE) / below_home / "packyard"
