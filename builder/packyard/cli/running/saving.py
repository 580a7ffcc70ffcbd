"""`packyard logs --save`: what each container of a run printed, before its last restart as well, in a file of its own.

DIR/mnist-launcher-x7k2p.training.log
DIR/mnist-launcher-x7k2p.training.previous.log
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from packyard.cli import output
from packyard.core.errors import ConflictError, PackyardError, Problem
from packyard.running.runs import choose, logs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.logs import Log
from packyard.running.runs.status import RunStatus


def save(client: Kubectl, run_status: RunStatus, directory: str) -> int:
    """Write the logs of a run into a folder that is new or empty; return 1 where one is missing or there is none."""
    folder = Path(directory)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConflictError(Problem("is there already, and not empty", file=directory, hint="name another folder"))
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {log: folder / _name(log) for log in _logs(run_status)}
    refused: list[PackyardError] = []
    with ExitStack() as stack:
        files: dict[Log, BinaryIO] = {log: stack.enter_context(path.open("xb")) for log, path in wanted.items()}
        for log, line in logs.read(client, list(wanted), [], refused.append):
            files[log].write(line)
    for error in refused:
        output.refusal(error)
    output.note(f"{output.counted(len(wanted), 'log')} of {output.counted(len(run_status.pods), 'pod')} in {directory}")
    return int(bool(refused) or not wanted)


def _logs(run_status: RunStatus) -> Iterator[Log]:
    for pod in run_status.pods:
        if pod.state in choose.STARTED:
            yield from (Log(pod.name, container) for container in pod.containers)
        if pod.restarts:
            yield Log(pod.name, choose.container(pod, ""), is_previous=True)


def _name(log: Log) -> str:
    return f"{log.pod}.{log.container}{'.previous' if log.is_previous else ''}.log"
