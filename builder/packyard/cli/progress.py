"""Shows on a terminal how far work is, in one line that the next message takes the place of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from packyard.cli import output, streams
from packyard.core.errors import on_one_line

_doing = ""


def waiting(text: str, seconds: float) -> None:
    """Show what is waited for, and since when; nothing in the first second."""
    if seconds >= 1:
        _show(f"{text} ({seconds:.0f} s)")


def _show(text: str) -> None:
    if output.is_watched():
        streams.show(output.encoded(output.masked(on_one_line(text))[: output.size()[0] - 1]))


def waited() -> None:
    """Clear the line."""
    streams.clear()


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show what is being done; `doing` and `arriving` say how far it is."""
    doing(text)
    try:
        yield
    finally:
        doing("")
        waited()


def doing(text: str) -> None:
    """Say how far `busy` work is."""
    global _doing
    _doing = text
    _show(text)


def arriving(what: str, arrived: int) -> None:
    """Say how many bytes have arrived."""
    unit, name = (1e6, "MB") if arrived >= 1e6 else (1e3, "kB")
    if _doing:
        _show(f"{_doing}, {what}: {arrived / unit:.1f} {name}")


@contextmanager
def of(names: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """Show how many of several things are done, and the last one, as the caller is told their places."""
    places: list[int] = []

    def done(place: int) -> None:
        places.append(place)
        doing(f"{len(places)} of {len(names)}: {names[place]}")

    try:
        yield done
    finally:
        waited()
