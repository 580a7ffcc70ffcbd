"""Where packyard keeps what it remembers between commands: ``$XDG_STATE_HOME/packyard``."""

from __future__ import annotations

import os
from pathlib import Path

from packyard.setters.history import History


def history() -> History:
    """Return the history of `set`."""
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"  # noqa: PTH117
    return History(folder / "packyard" / "history")
