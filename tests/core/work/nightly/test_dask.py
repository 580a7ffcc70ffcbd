"""Schedulers and workers of dask, as users start them: processes of their own, each a command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import packyard
import reading
import real
import workspaces
from commandline import COMMAND, SOURCE_ROOT, done, environment
from deadly import DieOnce, Wait, refuse_or_die
from packyard.core.errors import PackyardError, UnavailableError, UsageError
from packyard.core.work import executor
from packyard.core.work.dask import Dask, opened

pytestmark = pytest.mark.nightly

try:
    import dask
    import distributed
except ImportError:
    real.absent("dask", remedy="pip install distributed")

TASKS = [str(number) for number in range(40)]
NAME = "resnet50v1-5-fp32-training-k8s"


@contextmanager
def started(*words: object, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command line of dask as long as the block does; no process of it outlives that."""
    command = [sys.executable, "-m", "dask", *map(str, words)]
    path = os.pathsep.join([str(SOURCE_ROOT), str(real.REPOSITORY / "tests")])
    variables = environment(**{"PYTHONPATH": path, **env})
    process = subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduling(folder: Path, **env: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a scheduler, and yield its address and its process."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)  # that of an earlier one
    words = ("--host", "127.0.0.1", "--port", 0, "--dashboard-address", "127.0.0.1:0", "--idle-timeout", "10 minutes")
    with started("scheduler", *words, "--scheduler-file", file, **env) as process:
        while not (file.exists() and file.read_text().endswith("}")):
            assert process.poll() is None
            time.sleep(0.02)
        yield json.loads(file.read_text())["address"], process


@contextmanager
def working(address: str, folder: Path, *words: object, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run workers, and yield when a scheduler hears of them."""
    own = ("--nthreads", 1, "--no-dashboard", "--local-directory", folder, "--death-timeout", "2 minutes")
    with (
        started("worker", address, *own, *words, **env) as process,
        opened(partial(distributed.Client, address)) as client,
    ):
        client.wait_for_workers(2 if "--nworkers" in words else 1, timeout=300)
        yield process


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers, which come again when they are killed.

    It does not itself try again what killed a worker, as others do thrice: that is left to us.
    """
    folder = tmp_path_factory.mktemp("dask")
    with (
        scheduling(folder, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as (address, _),
        working(address, folder, "--nworkers", 2),
    ):
        yield address


@pytest.fixture
def impatient() -> Iterator[None]:
    """Wait five seconds for those who do not answer, not thirty: longer than a busy machine makes them take."""
    with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):
        yield


def test_the_same_results_on_dask(scheduler: str) -> None:
    done: list[int] = []
    assert executor.run(str.upper, TASKS, on=Dask(2, scheduler), done=done.append) == [task.upper() for task in TASKS]
    assert sorted(done) == list(range(40))


@pytest.mark.parametrize(
    "delays", [{"5": None}, {"4": 0.0, "14": 0.002, "39": 0.005}], ids=["at work", "with results on their way"]
)
def test_a_killed_worker_loses_nothing(delays: dict[str, float | None], scheduler: str, tmp_path: Path) -> None:
    assert executor.run(DieOnce(tmp_path, delays), TASKS, on=Dask(2, scheduler)) == [task * 2 for task in TASKS]
    assert {file.name for file in tmp_path.iterdir()} == set(delays)


def test_says_which_tasks_kill_their_worker_and_finishes_the_others(scheduler: str) -> None:
    done: list[int] = []
    with pytest.raises(PackyardError) as caught:
        executor.run(refuse_or_die, TASKS, on=Dask(2, scheduler), done=done.append)
    first, second, third = str(caught.value).splitlines()
    assert (first, third) == ("3.yaml: is odd", "30.yaml: is odd")
    assert second.startswith("11: its worker died at each attempt")
    assert sorted(done) == list(range(40))


@pytest.mark.usefixtures("impatient")
def test_a_long_task_is_no_fault(scheduler: str, tmp_path: Path) -> None:
    assert executor.run(Wait(tmp_path, 7), ["long"], on=Dask(1, scheduler)) == ["long"]


# A client that failed is garbage, which is collected, where that is not held off, at the worst moment.
GARBAGE = """
import distributed, gc, os, sys
from packyard.core.errors import UnavailableError
from packyard.core.work import executor
from packyard.core.work.dask import Dask
def collect(frame, event, _):
    if event == "call" and frame.f_code.co_name == "_start_unlocked" and gc.isenabled():
        gc.collect()
gc.set_threshold(1_000_000)
try:
    distributed.Client("tcp://there:port")
except ValueError:
    sys.setprofile(collect)
try:
    executor.run(str.upper, ["a"], on=Dask(1, "tcp://127.0.0.1:9"))
except UnavailableError as error:
    print(error, flush=True)
    os._exit(0)
"""


def test_what_dask_left_of_a_client_does_not_hold_up_the_next() -> None:
    command = [sys.executable, "-c", GARBAGE]
    variables = environment(DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="200ms")
    found = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=True)
    assert found.stdout.startswith("tcp://127.0.0.1:9: no dask scheduler answers")


def test_says_that_no_scheduler_answers() -> None:
    short = dask.config.set({"distributed.comm.timeouts.connect": "200ms"})
    with short, pytest.raises(UnavailableError, match=r"tcp://127\.0\.0\.1:9: no dask scheduler answers"):
        executor.run(str.upper, TASKS, on=Dask(1, "tcp://127.0.0.1:9"))


@pytest.mark.parametrize("address", ["there", "tcp://there:port", "nothing://there:1"])
def test_refuses_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match=f"^{address}: "):
        executor.run(str.upper, TASKS, on=Dask(1, address))


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def stop(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGSTOP)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("whose", "end", "said"),
    [
        ("workers", kill, "it has no workers, for 5 seconds"),
        ("scheduler", kill, "no dask scheduler answers"),
        ("scheduler", stop, "no dask scheduler answers, for 5 seconds"),
    ],
)
def test_says_who_is_gone_instead_of_waiting_for_ever(
    whose: str, end: Callable[[subprocess.Popen[bytes]], None], said: str, tmp_path: Path
) -> None:
    with scheduling(tmp_path) as (address, scheduler), working(address, tmp_path, "--no-nanny") as workers:
        caught: list[BaseException] = []

        def run() -> None:
            try:
                executor.run(Wait(tmp_path, 3600), ["long"], on=Dask(1, address))
            except BaseException as error:
                caught.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while not (tmp_path / "long").exists():
            assert thread.is_alive()
            time.sleep(0.02)
        end(workers if whose == "workers" else scheduler)
        thread.join(timeout=300)
        assert not thread.is_alive()
    assert isinstance(caught[0], UnavailableError)
    assert str(caught[0]).startswith(f"{address}: {said}")


@pytest.mark.usefixtures("impatient")
def test_says_that_there_are_no_workers_and_refuses_those_of_another_packyard(tmp_path: Path) -> None:
    """Workers of another packyard cannot read a task."""
    other = tmp_path / "packyard" / "__init__.py"
    other.parent.mkdir()
    with scheduling(tmp_path) as (address, _):
        with pytest.raises(UnavailableError, match=f"^{address}: it has no workers, for 5 seconds"):
            executor.run(str.upper, TASKS, on=Dask(1, address))
        for source, found in (('__version__ = "9.0"', "packyard 9.0"), ("raise ImportError", "no packyard")):
            other.write_text(source)
            with working(address, tmp_path, "--no-nanny", PYTHONPATH=str(tmp_path)):
                with pytest.raises(UnavailableError) as caught:
                    executor.run(str.upper, TASKS, on=Dask(1, address))
                first, last = str(caught.value).splitlines()
                assert first.endswith(f": this worker has {found}")
                assert last == f"{address}: it and all its workers need packyard {packyard.__version__}"


def test_a_build_gives_the_same_bytes_as_by_processes_though_a_worker_is_killed(tmp_path: Path) -> None:
    root = workspaces.multiply(tmp_path / "sources", 3, [NAME])
    build = ("build", "--workspace", root, "--version", "1.0", "--no-cache", "--out")
    done(*build, tmp_path / "expected", "--jobs", 2)
    with (
        scheduling(tmp_path) as (address, _),
        working(address, tmp_path, "--nworkers", 2),
        opened(partial(distributed.Client, address)) as client,
    ):
        workers = client.run(os.getpid)
        command = [*COMMAND, *map(str, build), str(tmp_path / "found"), "--executor", f"dask={address}"]
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
        try:
            while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
                assert process.poll() is None
            os.kill(workers[busy[0]], signal.SIGKILL)
            assert process.wait(timeout=300) == 0
        finally:
            process.kill()
            process.wait()
    expected = reading.files(tmp_path / "expected")
    assert len(expected) > 3
    assert reading.files(tmp_path / "found") == expected
