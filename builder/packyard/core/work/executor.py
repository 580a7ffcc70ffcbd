"""Many tasks at once, each a call of one function: in this process, or in processes of this machine.

The results and their order do not depend on where the tasks ran. The errors of all tasks are told together.
When a worker dies, the tasks that it had not finished run once more in new workers, and then each alone, twice, so that
the task that kills its worker is known by name.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, NamedTuple, TypeVar

from packyard.core.errors import PackyardError, Problem, UnavailableError

Task = TypeVar("Task")
Result = TypeVar("Result")

_SHARES = 4  # a worker gets its tasks in this many chunks, so that none waits long for another's last one
_LARGEST = 100
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_worker = threading.local()


class _Outcome(NamedTuple):
    """What became of one task: a result, or what it raised."""

    result: Any = None
    error: Exception | None = None
    trace: str = ""  # where a fault of another kind was raised, for it may have been in another process


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """Call ``function`` for every task, and return the results in the order of the tasks.

    ``jobs`` is how many processes work at once; with 0 this one does, one task after another. ``done`` hears of every
    task that is over, by its place. What tasks refuse is raised when all are over, as one error; a fault of another
    kind then, with what was refused.
    """
    outcomes: dict[int, _Outcome] = {}

    def over(place: int, outcome: _Outcome) -> None:
        outcomes[place] = outcome
        done(place)

    def in_workers(chunks: Sequence[Sequence[int]]) -> list[int]:
        """Run chunks of tasks in workers, and return the places of those whose worker died."""
        dead: list[int] = []
        futures: dict[Future[list[_Outcome]], Sequence[int]] = {}
        with _processes(min(jobs, len(chunks)), function) as pool:
            for places in chunks:
                try:
                    futures[pool.submit(_work, [tasks[place] for place in places])] = places
                except BrokenExecutor:  # a worker died while chunks were still given out
                    dead += places
            for future in as_completed(futures):
                try:
                    for place, outcome in zip(futures[future], future.result(), strict=True):
                        over(place, outcome)
                except BrokenExecutor:
                    dead += futures[future]
        return sorted(dead)

    rest = list(range(len(tasks)))
    if not jobs:
        with _uncollected():
            for place in rest:
                over(place, _call(function, tasks[place]))
    for _ in ("at first", "once more") if jobs else ():
        chunk = max(1, min(_LARGEST, len(rest) // (jobs * _SHARES)))
        rest = in_workers([rest[at : at + chunk] for at in range(0, len(rest), chunk)]) if rest else []
    for place in rest if jobs else ():
        if in_workers([[place]]) and in_workers([[place]]):
            hint = "is there memory enough? the system's log tells who killed it"
            problem = Problem("its worker died at each attempt", file=str(tasks[place]), hint=hint)
            over(place, _Outcome(error=UnavailableError(problem)))
    return _results([outcomes[place] for place in range(len(tasks))])


def _results(outcomes: Sequence[_Outcome]) -> list[Any]:
    """Return the results, or raise what was refused: as one error of its class, if that is one, with each problem once.

    A fault of another kind goes first.
    """
    errors = [outcome.error for outcome in outcomes if isinstance(outcome.error, PackyardError)]
    kinds = {type(error) for error in errors}
    problems = {str(problem): problem for error in errors for problem in error.problems}
    refused = (kinds.pop() if len(kinds) == 1 else PackyardError)(*problems.values())
    for outcome in outcomes:
        if outcome.trace and outcome.error:
            others = f"\nthese were refused as well:\n{refused}" if errors else ""
            raise outcome.error from RuntimeError(outcome.trace + others)
    if errors:
        raise errors[0] if len(errors) == 1 else refused
    return [outcome.result for outcome in outcomes]


def _call(function: Callable[[Any], Any], task: object) -> _Outcome:
    try:
        return _Outcome(function(task))
    except PackyardError as error:
        return _Outcome(error=error)
    except Exception as error:  # raised again where all are over
        return _Outcome(error=error, trace=traceback.format_exc())


def _work(tasks: Sequence[object]) -> list[_Outcome]:
    """Call a worker's function for some tasks."""
    with _uncollected():
        return [_call(_worker.function, task) for task in tasks]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile: it would not pay, as in `packyard.cli.main`."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _processes(jobs: int, function: Callable[[Any], Any]) -> Iterator[Executor]:
    """Make workers ready for a function; they end with the ``with``, however it is left, and with this process.

    A task whose worker died raises ``BrokenExecutor``.
    """
    others = set(multiprocessing.active_children())
    alone = threading.active_count() == 1  # a fork takes no thread along but may take what one has locked
    context = multiprocessing.get_context("fork" if alone else "forkserver")
    pool = _Pool(jobs, mp_context=context, initializer=_begin, initargs=(function,))
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class _Pool(ProcessPoolExecutor):
    """Starts workers, as tasks come, with requests to end blocked: they come to this process too, and `_begin` waits.

    A worker that had not begun would say where it was interrupted.
    """

    def submit(self, fn: Callable[..., Result], /, *args: object, **kwargs: object) -> Future[Result]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(function: Callable[[Any], Any]) -> None:
    """Make a new worker leave an interrupt to the process that started it, and end when that says so or is gone."""
    _worker.function = function
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
