"""Many tasks at once, each a call of one function: in this process, or in processes of this machine.

The results and their order do not depend on where the tasks ran. The errors of all tasks are told together.
When a worker dies, the tasks that it had not finished run once more in new workers, and then each alone, so that the
task that kills its worker is known by name.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import secrets
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Generic, TypeVar, cast

from packyard.core.errors import PackyardError, Problem, UnavailableError

Task = TypeVar("Task")
Result = TypeVar("Result")

_SHARES = 4  # a worker gets its tasks in this many chunks, so that none waits long for another's last one
_LARGEST = 100
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_worker = threading.local()


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Make processes of this machine ready; they end with the ``with``, however it is left, and with this process.

    A task whose process died raises ``BrokenExecutor``.
    """
    others = set(multiprocessing.active_children())
    alone = threading.active_count() == 1  # a fork takes no thread along but may take what one has locked
    context = multiprocessing.get_context("fork" if alone else "forkserver")
    pool = _Pool(jobs, mp_context=context, initializer=_begin)
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
    work = _Run(function, tasks, done)
    chunk = max(1, min(_LARGEST, len(tasks) // (jobs * _SHARES))) if jobs else len(tasks)
    chunks = [range(first, min(first + chunk, len(tasks))) for first in range(0, len(tasks), chunk or 1)]
    if not jobs:
        for places in chunks:
            work.here(places)
    else:
        for _ in ("in workers", "once more, in new workers"):
            chunks = work.together(jobs, chunks) if chunks else []
        work.one_by_one([place for places in chunks for place in places])
    return work.results()


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[Result]):
    """What became of one task: a result, or what it raised."""

    result: Result | None = None
    error: Exception | None = None
    trace: str = ""  # where a fault of another kind was raised, for it may have been in another process


@dataclass(frozen=True, slots=True)
class _Run(Generic[Task, Result]):
    """One fan-out: its tasks, and what became of those that are over."""

    function: Callable[[Task], Result]
    tasks: Sequence[Task]
    done: Callable[[int], None]
    outcomes: dict[int, _Outcome[Result]] = field(default_factory=dict)
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    def here(self, places: Sequence[int]) -> None:
        """Run tasks in this process."""
        for place in places:
            self._over([place], _call("", self.function, [self.tasks[place]]))

    def together(self, jobs: int, chunks: Sequence[range]) -> list[range]:
        """Run chunks of tasks in workers, and return those whose worker died."""
        dead: list[range] = []
        with processes(min(jobs, len(chunks))) as pool:
            futures: dict[Future[list[_Outcome[Result]]], range] = {}
            for places in chunks:
                try:
                    tasks = [self.tasks[place] for place in places]
                    futures[pool.submit(_call, self.id, self.function, tasks)] = places
                except BrokenExecutor:  # a worker died while chunks were still given out
                    dead.append(places)
            for future in as_completed(futures):
                try:
                    self._over(futures[future], future.result())
                except BrokenExecutor:
                    dead.append(futures[future])
        return sorted(dead, key=lambda places: places.start)

    def one_by_one(self, places: Sequence[int]) -> None:
        """Run tasks each alone, in one worker for as long as it lives, and note those that kill two workers."""
        rest = [(place, attempt) for place in reversed(places) for attempt in ("last", "first")]
        while rest:
            with processes(1) as pool:
                while rest:
                    place, attempt = rest.pop()
                    try:
                        outcomes = pool.submit(_call, self.id, self.function, [self.tasks[place]]).result()
                    except BrokenExecutor:
                        if attempt == "last":
                            self._over([place], [_Outcome(error=_killer(self.tasks[place]))])
                        break
                    self._over([place], outcomes)
                    rest = [item for item in rest if item[0] != place]

    def results(self) -> list[Result]:
        """Return the results in order, or raise what was refused."""
        outcomes = [self.outcomes[place] for place in range(len(self.tasks))]
        refused = _join([outcome.error for outcome in outcomes if isinstance(outcome.error, PackyardError)])
        for outcome in outcomes:
            if outcome.trace and outcome.error:
                others = f"\nthese were refused as well:\n{refused}" if refused else ""
                raise outcome.error from RuntimeError(outcome.trace + others)
        if refused:
            raise refused
        return [cast("Result", outcome.result) for outcome in outcomes]  # each has one, as nothing was refused

    def _over(self, places: Sequence[int], outcomes: Sequence[_Outcome[Result]]) -> None:
        for place, outcome in zip(places, outcomes, strict=True):
            self.outcomes[place] = outcome
            self.done(place)


def _call(run: str, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[_Outcome[Result]]:
    """Call a function for some tasks. A worker keeps the one that it got first in a run, with what that remembers."""
    if run and getattr(_worker, "run", "") != run:
        _worker.run, _worker.function = run, function
    function = _worker.function if run else function
    outcomes: list[_Outcome[Result]] = []
    with _uncollected():  # it would not pay, as in `packyard.cli.main`
        for task in tasks:
            try:
                outcomes.append(_Outcome(function(task)))
            except PackyardError as error:
                outcomes.append(_Outcome(error=error))
            except Exception as error:  # raised again where all are over
                outcomes.append(_Outcome(error=error, trace=traceback.format_exc()))
    return outcomes


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _killer(task: object) -> UnavailableError:
    hint = "is there memory enough? the system's log tells who killed it"
    return UnavailableError(Problem("its worker died at each attempt", file=str(task), hint=hint))


def _join(errors: Sequence[PackyardError]) -> PackyardError | None:
    """Return one error with the problems of all, once each; of their class, where that is one."""
    if len(errors) < 2:
        return errors[0] if errors else None
    kinds = {type(error) for error in errors}
    problems = {str(problem): problem for error in errors for problem in error.problems}
    return (kinds.pop() if len(kinds) == 1 else PackyardError)(*problems.values())


def _begin() -> None:
    """Make a new worker leave an interrupt to the process that started it, and end when that says so or is gone."""
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
