"""Workers of dask as an executor whose calls always return or raise.

dask itself waits forever where no worker is left, and its own executor loses a call, or gives a false error, when a
worker dies while its result is sent. So this one takes results itself, and polls the scheduler for its workers: where
none has answered for as long as dask's setting for connecting says (``distributed.comm.timeouts.connect``, 30 s), that
is an error. A call has no time limit: a worker that dask hears of is at work.
"""

from __future__ import annotations

import asyncio
import gc
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from packyard import __version__
from packyard.core import extras
from packyard.core.errors import Problem, UnavailableError, UsageError

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Remote

Opened = TypeVar("Opened")
Result = TypeVar("Result")

_TURN = 1.0  # seconds between two questions to the scheduler
_QUESTION = (pkgutil.resolve_name, "packyard:__version__")
_HINT = "dask's setting distributed.comm.timeouts.connect is how long to wait"


@dataclass(frozen=True, slots=True)
class Dask:
    """Workers of dask: those of the scheduler at ``address``, which see the same folders, else ones started here."""

    jobs: int
    address: str = ""

    @contextmanager
    def open(self, jobs: int) -> Iterator[Executor]:
        """Connect to the scheduler, or start one with workers, and return when one can work."""
        try:
            from dask import config
            from distributed import Client, LocalCluster
            from distributed.comm import get_address_host_port
        except ImportError as error:
            raise UnavailableError(Problem("dask is not installed", hint=extras.install("dask"))) from error
        with ExitStack() as stack:
            address = self.address
            if not address:
                local = partial(LocalCluster, n_workers=jobs, threads_per_worker=1, dashboard_address="127.0.0.1:0")
                with config.set({"distributed.worker.profile.enabled": False}):  # which takes a fifth of their time
                    address = stack.enter_context(opened(local)).scheduler_address
            try:
                get_address_host_port(address)  # a client that finds out itself waits for a minute when it is collected
                client = stack.enter_context(opened(partial(Client, address, set_as_default=False)))
            except ValueError as error:
                raise UsageError(f"{address}: {error}") from error
            except (TimeoutError, OSError) as error:
                raise UnavailableError(f"{address}: no dask scheduler answers: {error}") from error
            workers = stack.enter_context(_Workers(client, address))
            workers.wait()
            yield workers


@contextmanager
def opened(make: Callable[[], AbstractContextManager[Opened]]) -> Iterator[Opened]:
    """Enter what ``make`` returns, a client of dask or a cluster, and leave it, with no garbage collected meanwhile.

    dask does both under a lock of the process, and takes that again, and waits for ever, where the collector finds a
    client of before just then.
    """
    stack = ExitStack()
    with uncollected():
        thing = stack.enter_context(make())
    try:
        yield thing
    finally:
        with uncollected():
            stack.close()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Workers(Executor):
    """The workers of one scheduler; they may come and go."""

    def __init__(self, client: Client, address: str) -> None:
        from dask import config
        from dask.utils import parse_timedelta

        self.client = client
        self.address = address
        self.patience: float = parse_timedelta(config.get("distributed.comm.timeouts.connect"))
        self.loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self.ready = asyncio.Event()
        self.watch = asyncio.run_coroutine_threadsafe(self._begin(), self.loop).result()

    def wait(self) -> None:
        """Return when a worker can work, or raise why none does."""
        asyncio.run_coroutine_threadsafe(self._unless_given_up(self.ready.wait()), self.loop).result()

    def submit(self, function: Callable[..., Result], /, *arguments: Any, **options: Any) -> Future[Result]:
        """Call it in a worker. Not as a pure function: the same call may find other files, or a worker that lives."""
        remote = self.client.submit(function, *arguments, pure=False, **options)
        return asyncio.run_coroutine_threadsafe(self._result(remote), self.loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Stop polling. What the workers still do ends with the client."""
        self.loop.call_soon_threadsafe(self.watch.cancel)

    async def _begin(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._watch())

    async def _result(self, remote: Remote) -> Any:
        from distributed import KilledWorker

        try:
            return await self._unless_given_up(remote)
        except (TimeoutError, KilledWorker, CancelledError, OSError) as error:
            raise BrokenExecutor(f"{self.address}: {error}") from error

    async def _unless_given_up(self, awaitable: Any) -> Any:
        """Return the task's result, or raise the reason for which the watch gave up."""
        task = asyncio.ensure_future(awaitable)
        await asyncio.wait((task, self.watch), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            self.watch.result()
        return await task

    async def _watch(self) -> None:
        """Ask who works here, until nobody has answered for too long, or somebody who cannot work has."""
        tasks: dict[str, asyncio.Task[object]] = {}
        heard = self.loop.time()
        try:
            while self.loop.time() - heard < self.patience:
                workers = await self._listed()
                present = () if workers is None else (self.address, *workers)
                tasks = {name: tasks.get(name) or asyncio.create_task(self._version(name)) for name in present}
                if tasks:
                    await asyncio.wait(tasks.values(), timeout=_TURN)
                versions = {name: task.result() for name, task in tasks.items() if task.done()}
                self._check(versions)
                if any(versions.get(worker) for worker in workers or ()):
                    heard = self.loop.time()
                    if len(versions) == len(tasks):
                        self.ready.set()
                tasks = {name: task for name, task in tasks.items() if versions.get(name, "") is not None}
                await asyncio.sleep(_TURN if self.ready.is_set() else _TURN / 20)
        finally:
            for task in tasks.values():
                task.cancel()
        raise UnavailableError(
            Problem(f"{self.address}: {_silent(workers)}, for {self.patience:g} seconds", hint=_HINT)
        )

    async def _listed(self) -> list[str] | None:
        """Return the workers that the scheduler hears of, or None if it does not answer itself."""
        try:
            return list(await asyncio.wait_for(self.client.nthreads(), self.patience))
        except (TimeoutError, OSError):
            return None

    async def _version(self, name: str) -> object:
        """Return the version of packyard in a worker or the scheduler, what hinders it, or None without an answer."""
        answer: object
        try:
            if name == self.address:
                answer = await asyncio.wait_for(self.client.run_on_scheduler(*_QUESTION), self.patience)
            else:
                question = self.client.run(*_QUESTION, workers=[name], on_error="return")
                answer = (await asyncio.wait_for(question, self.patience)).get(name)
        except (TimeoutError, OSError):
            return None
        except Exception as error:  # whatever was raised there
            return error
        return None if isinstance(answer, OSError) else answer

    def _check(self, versions: Mapping[str, object]) -> None:
        """Refuse those with another packyard, or with none: they cannot read a task."""
        others = [
            Problem(
                f"this {'scheduler' if name == self.address else 'worker'} has "
                f"{f'packyard {version}' if isinstance(version, str) else 'no packyard'}",
                file=name,
            )
            for name, version in sorted(versions.items())
            if version not in (None, __version__)
        ]
        if others:
            raise UnavailableError(*others, f"{self.address}: it and all its workers need packyard {__version__}")


def _silent(workers: list[str] | None) -> str:
    if workers is None:
        return "no dask scheduler answers"
    return "none of its workers answers" if workers else "it has no workers"
