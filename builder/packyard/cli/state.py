"""Opens what packyard keeps between commands: the step log, the cache, and the user's configuration.

``$XDG_CONFIG_HOME/packyard`` is written by the user and by `keys`. ``$XDG_STATE_HOME/packyard`` has the steps that
`undo` reads; ``$XDG_CACHE_HOME/packyard`` may be deleted at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packyard.cli import output

if TYPE_CHECKING:
    from packyard.core.files.steps import StepLog


def log(title: str = "") -> StepLog:
    """Return the step log, for a change that `packyard undo` calls by a title.

    Where no step can be kept, it says so on stderr, and the change is made nevertheless.
    """
    from packyard.core.files.steps import StepLog  # needed by commands that change files only

    return StepLog.of_user()._replace(title=title, tell=output.note)
