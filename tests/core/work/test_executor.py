import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.work import executor
from tiny import environment

TASKS = [str(number) for number in range(40)]


@pytest.fixture(params=[0, 2], ids=["here", "processes"])
def jobs(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def double(task: str) -> str:
    return task * 2


def refuse_some(task: str) -> str:
    if task in ("3", "30"):
        raise InputError(Problem("is odd", file=f"{task}.yaml", line=1), Problem("shared"))
    return task


class Counting:
    """Says how often it was called before."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: str) -> int:
        self.calls += 1
        return self.calls - 1


def die(task: str) -> str:
    if task == "39":
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    done: list[int] = []
    assert executor.run(double, TASKS, jobs=jobs, done=done.append) == [task * 2 for task in TASKS]
    assert sorted(done) == list(range(40))


@pytest.mark.parametrize("jobs", [0, 1], ids=["here", "processes"])
def test_what_a_function_remembers_is_there_for_all_tasks_of_its_run_in_a_worker(jobs: int) -> None:
    for _ in range(2):
        assert executor.run(Counting(), TASKS, jobs=jobs) == list(range(40))


def test_what_one_task_refuses_does_not_hide_what_others_do(jobs: int) -> None:
    with pytest.raises(InputError) as caught:
        executor.run(refuse_some, TASKS, jobs=jobs)
    assert str(caught.value).splitlines() == ["3.yaml:1: is odd", "shared", "30.yaml:1: is odd"]


def test_a_killed_worker_ends_the_run_with_what_to_do() -> None:
    with pytest.raises(UnavailableError, match=r"a worker process was killed .*--jobs 1"):
        executor.run(die, TASKS, jobs=2)


WORKERS = """
import multiprocessing, os, signal, time
from packyard.core.work import executor
def interrupt(_):
    raise KeyboardInterrupt
def wait(task):
    time.sleep(3600)
if __name__ == "__main__":
    try:
        executor.run(str, range(40), jobs=2, done=interrupt)
    except KeyboardInterrupt:
        print(multiprocessing.active_children(), flush=True)
    executor.run(str, range(40), jobs=2)
    print(multiprocessing.active_children(), flush=True)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    executor.run(wait, range(2), jobs=2)
"""


@pytest.mark.nightly
def test_workers_end_with_the_run_with_an_interrupt_and_with_the_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WORKERS)
    process = subprocess.run(  # it returns when the last worker has let go of its standard output
        [sys.executable, "script.py"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, timeout=300
    )
    assert (process.returncode, process.stdout) == (-signal.SIGKILL, b"[]\n[]\n")
