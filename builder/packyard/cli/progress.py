"""Shows on a terminal how far work is, in one line that the next message takes the place of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic

from packyard.cli import output, streams
from packyard.core.errors import PackyardError, on_one_line

_TICK = 0.2  # seconds
_doing = _arriving = ""


def waiting(text: str, seconds: float) -> None:
    """Show on a terminal, in a line that the next message takes the place of, what is waited for and since when."""
    if seconds >= 1:
        _show(text, seconds)


def _show(text: str, seconds: float) -> None:
    if output.is_watched():
        shown = output.masked(on_one_line(text)) + (f" ({seconds:.0f} s)" if seconds >= 1 else "")
        streams.show(output.encoded(shown[: output.size()[0] - 1]))


def waited() -> None:
    """Clear the line of `waiting`."""
    streams.clear()


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show in the line of `waiting` what is being done; `doing` and `arriving` say how far it is.

    A thread does that, and processes are only forked where there is one thread: `of` is for work that forks.
    """
    if not output.is_watched():
        yield
        return
    from threading import Event, Thread

    ended, begin = Event(), monotonic()
    doing(text)
    arriving("", 0, 0)

    def show() -> None:
        with suppress(PackyardError, streams.Closed):
            while not ended.wait(_TICK):
                waiting(", ".join(filter(None, (_doing, _arriving))), monotonic() - begin)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        waited()


def doing(text: str) -> None:
    """Say how far `busy` work is."""
    global _doing
    _doing = text


def arriving(what: str, arrived: int, size: int | None) -> None:
    """Say how many bytes of a file have arrived, as long as some are missing."""
    global _arriving
    unit, name = (1e6, "MB") if (size or arrived) >= 1e6 else (1e3, "kB")
    whole = f" of {size / unit:.1f}" if size is not None else ""
    _arriving = "" if arrived == size else f"{what}: {arrived / unit:.1f}{whole} {name}"


@contextmanager
def of(names: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many of several things are done, and the last one, as the caller is told their places."""
    begin, number = monotonic(), 0

    def done(place: int) -> None:
        nonlocal number
        number += 1
        if len(names) > 1:
            doing(f"{number} of {len(names)}: {names[place]}")
            _show(_doing, monotonic() - begin)

    try:
        yield done
    finally:
        waited()
