"""Print what pods of a run print: its launcher, chief, master or leader, else all; or those of a role and an index.

packyard logs RUN           what they printed; with -f also what they go on to
                            print
packyard logs RUN --events  what happened to the run, to what was made of it and
                            to its pods, the newest last

Where there are several pods, each line begins with the role and the index of its pod. A pod that has not started is
named, with the reason. With -f it waits for pods to start, goes on when they are started again, and ends with the run;
the exit code is 1 if that has failed. Kubernetes keeps events for an hour.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, events
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.errors import InputError, PackyardError, Problem, UsageError
from packyard.core.kubernetes.outcome import FAILED
from packyard.running.runs import choose, logs, status
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.logs import Following, Log
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus

ROWS = Rows("pod", "pod, role, index, container, text, reason")
EVENTS = events.ROWS
#: What chooses logs, and no events.
_OF_LOGS = ("role", "index", "container", "follow", "previous", "tail", "since")
_PAUSE = 1.0  # seconds between two looks at pods that have not started
_LONG = 3.0  # and at those whose logs are open


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_pods(parser)
    declare.value(parser, "--container NAME", "not the first container, but this one", default="")
    declare.switch(parser, "-f --follow", "go on as more is printed, until the run is over")
    declare.switch(parser, "--previous", "what was printed before the last restart")
    declare.value(parser, "--tail N", "only the last lines of each pod", type=clusters.count)
    declare.value(parser, "--since TIME", "only what is newer: 90s, 15m, 2h", type=clusters.duration)
    declare.switch(parser, "--events", "what happened to the run, instead of what it prints")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print logs, and follow them if that is asked for; or events."""
    if arguments.events:
        _check_alone(arguments)
        return events.show(arguments)
    if arguments.follow and (arguments.previous or arguments.output != "text"):
        other = "--previous" if arguments.previous else f"--output {arguments.output}"
        raise UsageError(f"packyard logs: -f and {other} exclude each other; packyard logs --help shows the usage")
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    if arguments.follow:
        return _follow(client, arguments, record)
    run_status = status.read_one(client, record)
    pods = choose.pods(run_status, arguments.role, arguments.index)
    chosen = {log: pod for pod in pods if (log := _log(run_status, pod, arguments))}
    refused: list[PackyardError] = []
    lines = logs.read(client, list(chosen), _flags(arguments), refused.append)
    if ROWS.show(_rows(pods, chosen, lines), arguments.output):
        for log, line in lines:
            output.printed(line, _prefix(chosen[log], pods))
        for pod in pods:
            if pod not in chosen.values():
                output.notice(_waits(pod, pods))
    for error in refused:
        output.refusal(error)
    if not chosen:
        _tell_none(client, run_status)
    return int(not chosen or bool(refused))


def _check_alone(arguments: argparse.Namespace) -> None:
    """Refuse what chooses logs beside events, which are of all of a run."""
    for name in _OF_LOGS:
        value = getattr(arguments, name)
        if value is not None and value not in ("", False):
            problem = f"--events and --{name} exclude each other"
            raise UsageError(f"packyard logs: {problem}; packyard logs --help shows the usage")


def _log(run_status: RunStatus, pod: PodStatus, arguments: argparse.Namespace) -> Log | None:
    """Return the log of a pod; with --previous that of the container, or of the pod, in whose place it is."""
    container = choose.container(pod, arguments.container)
    if not arguments.previous:
        return Log(pod.name, container) if pod.state in choose.STARTED else None
    if pod.restarts:
        return Log(pod.name, container, is_previous=True)
    before = choose.before(run_status, pod)
    return Log(before.name, container) if before else None


def _flags(arguments: argparse.Namespace) -> list[str]:
    tail = [] if arguments.tail is None else [f"--tail={arguments.tail}"]
    return tail if arguments.since is None else [*tail, f"--since={int(arguments.since)}s"]


def _prefix(pod: PodStatus, among: Sequence[PodStatus]) -> str:
    """Return what the lines of a pod begin with: nothing where it is alone."""
    if len(among) == 1:
        return ""
    width = max(len(choose.title(each, among)) for each in among)
    return f"{choose.title(pod, among):<{width}} | "


def _waits(pod: PodStatus, among: Sequence[PodStatus]) -> str:
    """Say of a pod why it has no log."""
    name = choose.title(pod, among)
    if pod.state in choose.STARTED:
        return f"{name} was not started again: nothing is before its log"
    return f"{name} has not started" + (f": {pod.reason}" if pod.reason else "")


def _tell_none(client: Kubectl, run_status: RunStatus) -> None:
    if not run_status.pods:
        output.notice(f"run {run_status.run} has no pods; it {run_status.explained}")
    output.note(f"next: {client.packyard('logs', run_status.run, '--events')}")


def _rows(
    pods: Sequence[PodStatus], chosen: Mapping[Log, PodStatus], lines: Iterable[tuple[Log, bytes]]
) -> Iterator[tuple[object, ...]]:
    texts: dict[str, bytearray] = {pod.name: bytearray() for pod in pods}
    for log, line in lines:
        texts[chosen[log].name] += line
    containers = {pod.name: log.container for log, pod in chosen.items()}
    for pod in pods:
        text, why = texts[pod.name].decode("utf-8", "replace"), "" if pod.name in containers else _waits(pod, pods)
        yield pod.name, pod.role, pod.index, containers.get(pod.name, ""), text, why


def _follow(client: Kubectl, arguments: argparse.Namespace, record: RunRecord) -> int:
    """Print logs as they grow: of each pod from its start, and of the one that takes its place."""
    following, came = _Followed(Following(client), arguments), True
    try:
        while True:
            run_status = clusters.patiently(lambda: status.read_one(client, record))
            pods = choose.pods(run_status, arguments.role, arguments.index)
            following.look(pods)
            is_over = run_status.is_over or (bool(pods) and all(each.state == "done" for each in pods))
            # Nothing comes any more from a node that is lost; a log that is whole comes, from a slow cluster too.
            if is_over and not (following.logs.is_ending or (following.logs and came)):
                if not following.begun:
                    _tell_none(client, run_status)
                elif run_status.is_over:
                    output.note(f"run {run_status.run} {run_status.explained}")
                return int(not following.begun or run_status.state == FAILED)
            came = following.print(wait=following.has_all(pods) and not is_over)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        following.logs.close()


class _Followed:
    """The logs that are followed, and what was said of them."""

    def __init__(self, logs: Following, arguments: argparse.Namespace) -> None:
        self.logs = logs
        self.arguments = arguments
        self.begun: dict[Log, int] = {}
        self._places: dict[tuple[str, int], Log] = {}
        self._prefixes: dict[Log, str] = {}
        self._told: dict[str, str] = {}

    def look(self, pods: Sequence[PodStatus]) -> None:
        """Begin with what has started, and say of the others what they wait for."""
        if len(pods) > logs.MOST:
            problem = f"there are {len(pods)} such pods, and -f follows at most {logs.MOST}"
            raise InputError(Problem(problem, hint="choose some by --role or --index"))
        for pod in pods:
            log = self._of(pod)
            self._prefixes[log] = _prefix(pod, pods)
            if pod.state not in choose.STARTED:
                self._tell(pod.name, _waits(pod, pods))
            elif log not in self.logs and self._goes_on(pod, log):
                before = self._places.setdefault((pod.role, pod.index), log)
                if before != log or self.begun.get(log, pod.restarts) != pod.restarts:
                    output.note(f"{choose.title(pod, pods)} was started again, pod {pod.name}")
                self._places[pod.role, pod.index] = log
                self.logs.follow(log, _flags(self.arguments), goes_on=log.container in pod.running)
                self.begun[log] = pod.restarts

    def has_all(self, pods: Sequence[PodStatus]) -> bool:
        """Say whether there is nothing to look at until a log ends."""
        return bool(pods) and all(self._of(each) in self.logs for each in pods)

    def _of(self, pod: PodStatus) -> Log:
        return Log(pod.name, choose.container(pod, self.arguments.container))

    def print(self, *, wait: bool) -> bool:
        """Print what comes, with ``wait`` for longer, until a log ends; say whether anything came."""
        lines = chain(self.logs.lines(_LONG, until_end=True) if wait else (), self.logs.lines(_PAUSE))
        came = False
        for log, line in lines:
            output.printed(line, self._prefixes[log])
            output.flush()
            came = True
        return came

    def _goes_on(self, pod: PodStatus, log: Log) -> bool:
        return log not in self.begun or self.begun[log] != pod.restarts or log.container in pod.running

    def _tell(self, name: str, text: str) -> None:
        if self._told.get(name) != text:
            self._told[name] = text
            output.notice(text)
