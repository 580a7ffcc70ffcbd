"""Sorting more texts than memory holds: sorted runs in temporary files, merged as they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from typing import IO

_RUN = 200_000  # texts in memory


class Sorter:
    """Takes texts of one line each, and yields each once, in order."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._texts: set[str] = set()
        self._runs: list[IO[str]] = []

    def __enter__(self) -> Sorter:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, texts: Iterable[str]) -> None:
        """Take some texts."""
        self._texts.update(texts)
        if len(self._texts) >= _RUN:
            file = self._stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115
            file.writelines(f"{text}\n" for text in sorted(self._texts))
            file.seek(0)
            self._runs.append(file)
            self._texts = set()

    def __iter__(self) -> Iterator[str]:
        runs = [(line[:-1] for line in run) for run in self._runs]
        last = None
        for text in merge(sorted(self._texts), *runs):
            if text != last:
                yield text
            last = text
