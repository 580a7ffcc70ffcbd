"""Print what pods of a run print: its launcher, chief, master or leader, else all; or those of a role and an index.

packyard logs RUN           what they printed; with -f also what they go on to
                            print
packyard logs RUN --events  what happened to the run, to what was made of it and
                            to its pods, the newest last

`kubectl logs` does it: where there are several pods, each line begins with the name of its pod. With -f it waits for
pods to start, follows those too that are made later, and ends with the run; the exit code is 1 if that has failed.
"""

import time

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import InputError
from packyard.running.runs import events, status
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.logs import Reading
from packyard.running.runs.outcome import FAILED
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus

ROWS = Rows(
    "event",
    "when, count, type, reason, object, message",
    columns="AGE, COUNT, TYPE, REASON, OBJECT, MESSAGE",
    when="--events",
)
_LAST = 10.0  # seconds that what was printed last may take to come


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    clusters.add_pods(parser)
    parser.value("--container NAME", "not the first container, but this one", default="")
    parser.switch("-f --follow", "go on as more is printed, until the run is over")
    parser.switch("--previous", "what was printed before the last restart")
    parser.value("--tail N", "only the last lines of each pod", type=int)
    parser.switch("--events", "what happened to the run, instead of what it prints")


def run(arguments: declare.Arguments) -> int:
    """Print logs, or events."""
    if arguments.events:
        declare.alone(arguments, "logs", "beside --events", "role", "index", "container", "follow", "previous", "tail")
        return _show_events(arguments)
    declare.alone(arguments, "logs", "without --events", "output")
    if arguments.follow:
        declare.alone(arguments, "logs", "beside --follow", "previous")
    client = clusters.find(arguments)
    flags = [f"--tail={-1 if arguments.tail is None else arguments.tail}", *["--previous"] * arguments.previous]
    reading = Reading(client, arguments.container, flags, follows=arguments.follow)
    try:
        return _read(client, arguments, records.read_last(client, arguments.run), reading)
    finally:
        reading.close()


def _show_events(arguments: declare.Arguments) -> int:
    """Print events, and mark the warnings."""
    client = clusters.find(arguments)
    by_run = records.read_all(client, unfit=output.refusal)
    if arguments.run not in by_run:
        raise InputError(records.missing(client, arguments.run, by_run))
    listed = events.read(client, by_run, arguments.run)
    if ROWS.show(listed, arguments.output, cells={"AGE": lambda row: clusters.age(row["when"])}):
        output.note(output.counted(len(listed), "event") if listed else "no events are kept")
        output.note(f"next: {client.packyard('status', arguments.run)}")
    return 0


def _read(client: Kubectl, arguments: declare.Arguments, record: RunRecord, reading: Reading) -> int:
    """Print logs; where they are followed, of each pod from its start, until the run is over."""
    shown: dict[str, str] = {}
    while not reading.is_unread:
        run_status = clusters.patiently(lambda: status.read_one(client, record))
        pods = status.choose(run_status, arguments.role, arguments.index)
        reading.look(run_status, pods)
        for pod in pods:
            text = _waits(pod)
            if text and shown.get(pod.name) != text:
                output.notice(text)
            shown[pod.name] = text
        if not reading.follows or run_status.is_over or (pods and all(pod.state == "done" for pod in pods)):
            reading.finish(_LAST)
            if not reading.begun:
                _tell_none(client, run_status)
            elif reading.follows and run_status.is_over:
                output.note(f"run {run_status.run} {run_status.explained}")
            return int(not reading.begun or (reading.follows and run_status.state == FAILED))
        time.sleep(clusters.PAUSE)
    return 1


def _tell_none(client: Kubectl, run_status: RunStatus) -> None:
    if not run_status.pods:
        output.notice(f"run {run_status.run} has no pods; it {run_status.explained}")
    output.note(f"next: {client.packyard('logs', run_status.run, '--events')}")


def _waits(pod: PodStatus) -> str:
    """Say of a pod that it has not started, and why; nothing of others."""
    text = f"{pod.name} has not started" + (f": {pod.reason}" if pod.reason else "")
    return "" if pod.has_started else text
