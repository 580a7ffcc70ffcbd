"""Opens the folders that packyard keeps between commands: history, cache, and the user's configuration.

``$XDG_CONFIG_HOME/packyard`` is written by the user and by `keys`. ``$XDG_STATE_HOME/packyard`` has the history that
`undo` reads; ``$XDG_CACHE_HOME/packyard`` may be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.cli import output
from packyard.core.errors import UnavailableError

if TYPE_CHECKING:
    from packyard.core.files.history import History
    from packyard.core.files.tree import Keep, Tree

Contents = Mapping[Path, bytes | None]


def history() -> History | None:
    """Return the history of changes, or None for a user without a home folder."""
    from packyard.core.files.history import History  # needed by commands that change files only

    folder = state_dir()
    return History(folder / "history", output.note) if folder else None


def keep(root_dir: Path, title: str) -> Keep:
    """Return what records a change below ``root_dir`` for `packyard undo`.

    Where no history can be kept, it says so on stderr, and the change is made nevertheless.
    """

    def record(before: Contents, after: Contents) -> AbstractContextManager[object]:
        changes = history()
        try:
            if changes:
                return changes.record(root_dir, title, before, after)
            output.note("no history is kept without a home folder; `packyard undo` cannot undo this change")
        except UnavailableError as error:
            output.note(f"{error}; `packyard undo` cannot undo this change")
        return nullcontext()

    return record


def tell_pending(tree: Tree) -> None:
    """Print a message for each interrupted change; for commands that only read, and do not finish it."""
    for folder in tree.interrupted():
        import shlex

        quoted = shlex.quote(folder)
        output.note(
            f"{folder}: an interrupted change is pending: the next command that writes there finishes it, "
            f"or says why not; `packyard undo --finish {quoted}` does only that, "
            f"`packyard undo --take-back {quoted}` takes it back"
        )


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
    if os.path.isabs(base):  # noqa: PTH117  # a text, which may be empty
        return Path(base) / "packyard"
    try:
        home = Path.home() if os.environ.get("HOME") != "" else None
    except RuntimeError:  # a user without a name, as in containers
        home = None
    return home / below_home / "packyard" if home and home.is_absolute() and home.is_dir() else None
