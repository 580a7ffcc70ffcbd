"""The exit code of what is interrupted, and tidying up on a cluster in the end, whatever interrupts the work before."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from packyard.cli import output
from packyard.core.errors import PackyardError

#: The exit code of a verb that watches until somebody interrupts it; `main` gives it to all that is interrupted.
INTERRUPTED = 130
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def tidied(delete: Callable[[], None]) -> Iterator[None]:
    """Delete what was made, in the end; where that fails, say so beside what was found or went wrong before.

    No signal ends what tidies up; ``delete`` has to see to its processes, as kubectl ends by a SIGTERM for all of a
    group though it was told to ignore that.
    """
    try:
        yield
    finally:
        before = {each: signal.signal(each, signal.SIG_IGN) for each in _ENDING}
        try:
            delete()
        except PackyardError as error:
            output.refusal(error)
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
