"""Requests to end a command: Ctrl-C, SIGTERM, and SIGHUP, by which a terminal that is closed asks for it.

Only what ends its work by these imports `signal`, which takes 0.3 ms.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def as_interrupt() -> Iterator[None]:
    """Take every request to end as Ctrl-C, so that drafts, temporary folders and programs that were started go, too.

    Another request does not disturb what is tidied up after the first. One that the caller ignores, as `nohup` does,
    or handles stays so.
    """
    from signal import SIG_DFL, SIG_IGN, SIGHUP, SIGTERM, getsignal, signal

    def end(*_: object) -> None:
        for number in signals:
            signal(number, SIG_IGN)
        raise KeyboardInterrupt

    signals = [number for number in (SIGTERM, SIGHUP) if getsignal(number) == SIG_DFL]
    with _handled(signals, end):
        yield


@contextmanager
def later() -> Iterator[None]:
    """Keep requests to end waiting: by handlers, as any thread that does not mask a signal may be given it."""
    from signal import SIGHUP, SIGINT, SIGTERM, getsignal, raise_signal

    came: list[int] = []
    numbers = [number for number in (SIGINT, SIGTERM, SIGHUP) if getsignal(number) is not None]
    try:
        with _handled(numbers, lambda number, _: came.append(number)):
            yield
    finally:
        for number in came:
            raise_signal(number)


@contextmanager
def _handled(numbers: Iterable[int], handler: Callable[..., object]) -> Iterator[None]:
    """Handle signals for a while. Python calls handlers in the main thread; in others nothing is done."""
    from signal import signal

    before = {}
    try:
        for number in numbers:
            before[number] = signal(number, handler)
    except ValueError:  # this is not the main thread
        pass
    try:
        yield
    finally:
        for number, previous in before.items():
            signal(number, previous)
