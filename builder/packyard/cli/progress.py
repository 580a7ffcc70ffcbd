"""One bar on a terminal, of work that takes its time: the next message takes its place until there is more to show."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from packyard.cli import output, streams
from packyard.core.errors import on_one_line


@contextmanager
def busy(text: str = "", count: int = 0) -> Iterator[Callable[[str], None]]:
    """Show what is being done; each call of what is yielded says it anew, and is one step of ``count``.

    It has no thread of its own, as programs that have none start processes faster.
    """
    if not output.is_watched():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    columns, screen = (words, BarColumn(), TimeElapsedColumn()), Console(stderr=True)
    bar = Progress(*columns, console=screen, auto_refresh=False, transient=True)
    task = bar.add_task("", total=count or None)

    def show(text: str) -> None:
        bar.update(task, description=output.masked(on_one_line(text)), advance=1)
        bar.start()
        bar.refresh()

    streams.hide = bar.stop
    try:
        if text:
            show(text)
        yield show
    finally:
        streams.hide = streams.nothing
        bar.stop()


@contextmanager
def of(names: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """Show how many of several things are done, and the last one, as the caller is told their places."""
    with busy(count=len(names)) as show:
        yield lambda place: show(names[place])
