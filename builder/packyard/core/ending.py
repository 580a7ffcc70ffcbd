"""Requests to end a command: Ctrl-C, SIGTERM, and SIGHUP, by which a terminal that is closed asks for it.

Only what ends its work by these imports `signal`, which takes 0.3 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_interrupt() -> Iterator[None]:
    """Take every request to end as Ctrl-C, so that drafts, temporary folders and programs that were started go, too.

    Another request does not disturb what is tidied up after the first. One that the caller ignores, as `nohup` does,
    or handles stays so.
    """
    from signal import SIG_DFL, SIG_IGN, SIGHUP, SIGTERM, getsignal, signal

    taken = [number for number in (SIGTERM, SIGHUP) if getsignal(number) == SIG_DFL]

    def end(*_: object) -> None:
        for number in taken:
            signal(number, SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in taken:
            signal(number, end)
    except ValueError:  # this is not the main thread
        taken.clear()
    try:
        yield
    finally:
        for number in taken:
            signal(number, SIG_DFL)


@contextmanager
def later() -> Iterator[None]:
    """Keep requests to end waiting: by handlers, as any thread that does not mask a signal may be given it.

    Python calls handlers in the main thread; in others there is nothing to wait for.
    """
    from signal import SIGHUP, SIGINT, SIGTERM, getsignal, raise_signal, signal

    came: list[int] = []
    before = {caught: handler for caught in (SIGINT, SIGTERM, SIGHUP) if (handler := getsignal(caught)) is not None}
    try:
        for caught in before:
            signal(caught, lambda number, _: came.append(number))
    except ValueError:  # this is not the main thread
        before.clear()
    try:
        yield
    finally:
        for caught, handler in before.items():
            signal(caught, handler)
        for number in came:
            raise_signal(number)
