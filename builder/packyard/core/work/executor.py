"""Many tasks at once, each a call of one function: in this process, or in processes of this machine.

The results and their order do not depend on where the tasks ran. What all tasks refuse is told together.
"""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from typing import Any, TypeVar

from packyard.core.errors import PackyardError, Problem, UnavailableError

Task = TypeVar("Task")
Result = TypeVar("Result")

_SHARES = 4  # a worker gets its tasks in this many chunks, so that none waits long for another's last one
_LARGEST = 100
_worker = threading.local()


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """Call ``function`` for every task, and return the results in the order of the tasks.

    ``jobs`` is how many processes work at once; with 0 this one does, one task after another. ``done`` hears of every
    task that is over, by its place. What tasks refuse is raised when all are over, as one error.
    """
    outcomes: list[Any] = []
    results: Iterable[Any] = (_call(function, task) for task in tasks)
    try:
        with ExitStack() as stack:
            if jobs:
                pool = stack.enter_context(_processes(min(jobs, len(tasks)), function))
                results = pool.map(_work, tasks, chunksize=max(1, min(_LARGEST, len(tasks) // (jobs * _SHARES))))
            for outcome in results:
                outcomes.append(outcome)
                done(len(outcomes) - 1)
    except BrokenExecutor as error:
        hint = "is there memory enough? --jobs 1 takes the least, and the system's log tells who killed it"
        raise UnavailableError(Problem("a worker process was killed", hint=hint)) from error
    return _results(outcomes)


def _results(outcomes: Sequence[Any]) -> list[Any]:
    """Return the results, or raise what was refused: each problem once, in an error of its class if that is one."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, PackyardError)]
    if not errors:
        return list(outcomes)
    kinds = {type(error) for error in errors}
    problems = {str(problem): problem for error in errors for problem in error.problems}
    raise (kinds.pop() if len(kinds) == 1 else PackyardError)(*problems.values())


def _call(function: Callable[[Any], Any], task: object) -> Any:
    """Return a result, or what is refused."""
    try:
        return function(task)
    except PackyardError as error:
        return error


def _work(task: object) -> Any:
    """Call a worker's function for a task."""
    return _call(_worker.function, task)


@contextmanager
def _processes(jobs: int, function: Callable[[Any], Any]) -> Iterator[Executor]:
    """Make workers ready for a function; they end with the ``with``, however it is left, and with this process."""
    alone = threading.active_count() == 1  # a fork takes no thread along but may take what one has locked
    context = multiprocessing.get_context("fork" if alone else "forkserver")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(function,)) as pool:
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _begin(function: Callable[[Any], Any]) -> None:
    """Make a new worker leave an interrupt to the process that started it, and end when that says so or is gone."""
    _worker.function = function
    gc.disable()  # as in `packyard.cli.main`
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
