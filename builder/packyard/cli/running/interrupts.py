"""The exit code of what is interrupted, and tidying up on a cluster in the end, whatever interrupts the work before."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from packyard.cli import output
from packyard.core.errors import PackyardError

#: The exit code of a verb that watches until somebody interrupts it; `main` gives it to all that is interrupted.
INTERRUPTED = 130


@contextmanager
def tidied(delete: Callable[[], None]) -> Iterator[None]:
    """Delete what was made, in the end; where that fails, say so beside what was found or went wrong before.

    The first Ctrl-C ends the work. No further one ends what tidies up here; ``delete`` has to see to its processes, as
    kubectl ends by a SIGTERM for all of a group though it was told to ignore that.
    """
    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
        signals.append(signal.SIGHUP)

    def ignore(*_: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)

    def end(*_: object) -> None:
        ignore()
        raise KeyboardInterrupt

    before = {each: signal.signal(each, end) for each in signals}
    try:
        try:
            yield
        finally:
            ignore()
            try:
                delete()
            except PackyardError as error:
                output.refusal(error)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
