"""What packyard remembers between commands.

``$XDG_STATE_HOME/packyard`` has the history that `undo` reads, ``$XDG_CACHE_HOME/packyard`` what may be deleted at any
moment.
"""

from __future__ import annotations

import os
from pathlib import Path

from packyard.cli import output
from packyard.errors import UnavailableError

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Mapping

    from packyard.files.history import History
    from packyard.setters.change import Keep


def history() -> History:
    """Return the history of changes."""
    from packyard.files.history import History  # only where something is changed

    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"  # noqa: PTH117  # a text, which may be empty
    return History(folder / "packyard" / "history")


def keep(root_dir: Path, title: str) -> Keep:
    """Return what remembers a change below ``root_dir`` for `packyard undo`.

    Where no history can be kept it says so on stderr, and the change is made all the same.
    """

    def record(before: Mapping[Path, bytes | None], after: Mapping[Path, bytes | None]) -> None:
        try:
            history().record(root_dir, title, before, after)
        except UnavailableError as error:
            output.story(f"{error}; `packyard undo` will not know this change")

    return record


def cache_dir() -> Path | None:
    """Return the folder of results that are kept, or None for a user who has no place for one."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117  # a text, which may be empty
        return Path(base) / "packyard"
    try:
        home = Path.home()
    except RuntimeError:  # a user id without a name, as in containers
        return None
    return home / ".cache" / "packyard" if home.is_dir() else None
