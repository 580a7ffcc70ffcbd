"""Opens what packyard keeps between commands: the step log, the cache, and the user's configuration.

``$XDG_CONFIG_HOME/packyard`` is written by the user and by `keys`. ``$XDG_STATE_HOME/packyard`` has the steps that
`undo` reads; ``$XDG_CACHE_HOME/packyard`` may be deleted at any time.
"""

from packyard.cli import output
from packyard.core.files.steps import StepLog


def log(title: str = "") -> StepLog:
    """Return the step log, for a change that `packyard undo` calls by a title.

    Where no step can be kept, it says so on stderr, and the change is made nevertheless.
    """
    return StepLog.of_user()._replace(title=title, tell=output.note)
