"""Tasks for workers: some kill theirs, some refuse, some take long. Workers of dask import this by its name."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from packyard.core.errors import InputError, Problem


class DieOnce:
    """Kills its worker at some tasks, the first time: at work, or seconds after, with the result on its way."""

    def __init__(self, folder: Path, delays: dict[str, float | None]) -> None:
        self.folder = folder
        self.delays = delays

    def __call__(self, task: str) -> str:
        if task in self.delays and not (self.folder / task).exists():
            (self.folder / task).touch()
            delay = self.delays[task]
            if delay is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return task * 2


def refuse_or_die(task: str) -> str:
    if task == "11":
        os.kill(os.getpid(), signal.SIGKILL)
    if task in ("3", "30"):
        raise InputError(Problem("is odd", file=f"{task}.yaml"))
    return task


class Wait:
    """Says that it is at work, and works for long."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds

    def __call__(self, task: str) -> str:
        (self.folder / task).touch()
        time.sleep(self.seconds)
        return task
