"""Show what the runs of a namespace do, or one run in detail: how many pods of each role are wanted and ready, and why
something does not run.

The newest is first. With --watch it goes on until every run is over, and fails if one has failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, watching
from packyard.cli.running.ages import age
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.errors import IntegrityError, UsageError, shown
from packyard.core.kubernetes.outcome import FAILED
from packyard.running.runs import record as records
from packyard.running.runs import status, sweep, unrecorded
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus
from packyard.running.runs.sweep import Line

ROWS = Rows(
    "run",
    "run=record.run, package=record.package, version=record.version, useCase=record.use_case, state, reason, "
    "roles (role=name, wanted, ready, done, failed, restarts), "
    "pods (name, role, index, state, node, restarts, reason, created, started, ended), "
    "lines (line=number, arguments, parameters, state, reason, pod, tries, result), "
    "missing, unread, results, values=record.values, options=record.options, record=record.number, when=record.when, "
    "who=record.who",
)
_BESIDE, _LEAST = 5, 10  # lines of a terminal that are not for runs, and runs that are shown on any
_MOST_COLUMNS = 6  # parameters of a sweep that get a column
_COLUMNS = ("RUN", "PACKAGE", "STATE", "PODS", "AGE", "REASON")
_OF_ROLE = ("name", "wanted", "ready", "done", "failed", "restarts")
_ROLES = ("ROLE", *map(str.upper, _OF_ROLE[1:]))
_PODS = ("POD", "ROLE", "STATE", "NODE", "RESTARTS", "AGE", "REASON")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("run", metavar="RUN", nargs="?", default="", help="one run, in detail")
    declare.value(parser, "--package NAME", "only the runs of this package", default="")
    help = f"only these: {', '.join(status.STATES)}"
    parser.add_argument("--state", metavar="STATE", choices=status.STATES, help=help)
    declare.switch(parser, "--mine", "only those that you have deployed")
    text = "only so many, the newest (default: on a terminal as many as it has lines for)"
    declare.value(parser, "--limit N", text, type=clusters.count)
    declare.switch(parser, "--watch", "show changes as they come, until all runs are over")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table of runs, or one of them."""
    if arguments.watch and arguments.output != "text":
        raise UsageError("packyard status: --watch prints text only; packyard status --help shows the usage")
    client = clusters.find(arguments)
    if arguments.watch:
        return _watch(client, arguments)
    statuses = _read(client, arguments)
    page = statuses[: _limit(arguments)]
    if ROWS.show(page, arguments.output):
        _show(page, arguments)
        if len(page) < len(statuses):
            output.note(f"{len(statuses) - len(page)} more, which are older: --limit {len(statuses)} shows all")
        output.note(_next(client, arguments, statuses))
    return 0


def _limit(arguments: argparse.Namespace) -> int | None:
    """Return how many runs are shown; None for all."""
    limit: int | None = arguments.limit
    if limit is not None or not output.on_terminal() or arguments.output != "text":
        return limit
    return max(output.size()[1] - _BESIDE, _LEAST)


def _read(
    client: Kubectl, arguments: argparse.Namespace, unfit: Callable[[IntegrityError], None] = output.refusal
) -> list[RunStatus]:
    if arguments.run:
        return [status.read_one(client, _last(client, arguments.run))]
    listed = records.read_all(client, unfit=unfit)
    chosen = records.of_package(client, listed, arguments.package) if arguments.package else listed
    who = client.who() if arguments.mine else ""
    mine = {run: each for run, each in chosen.items() if not who or each[-1].who == who}
    is_all = not (arguments.package or who)
    statuses = status.read_namespace(client, mine) if is_all else status.read(client, mine)
    in_state = [each for each in statuses if arguments.state in (None, each.state)]
    return sorted(in_state, key=lambda each: each.record.when, reverse=True)


def _last(client: Kubectl, run: str) -> RunRecord:
    """Return the last record of a run, or what its objects say where that is gone."""
    if listed := records.read_all(client, run).get(run):
        return listed[-1]
    return unrecorded.usual(client, run).get(run) or records.read_last(client, run)


def _watch(client: Kubectl, arguments: argparse.Namespace) -> int:
    """Watch until all is over, or somebody ends it."""
    try:
        statuses = _draw(client, arguments) if output.can_draw() else watching.lines(lambda: _read(client, arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    output.note(_next(client, arguments, statuses))
    return int(any(each.state == FAILED for each in statuses))


def _draw(client: Kubectl, arguments: argparse.Namespace) -> Sequence[RunStatus]:
    """Draw one run, or all, until all is over."""
    if arguments.run:
        return [watching.drawn(client, _last(client, arguments.run), lambda run_status: run_status.is_over)]
    from packyard.cli.running import drawing, frames  # with rich, which is slow to import

    unfit: dict[str, IntegrityError] = {}
    where = f"namespace {client.namespace}"
    try:
        return drawing.until(
            lambda: _read(client, arguments, lambda error: unfit.update({str(error): error})),
            lambda statuses, size: frames.of_runs(statuses, where, size),
            lambda statuses: all(each.is_over for each in statuses),
        )
    finally:
        for error in unfit.values():
            output.refusal(error)


def _show(statuses: Sequence[RunStatus], arguments: argparse.Namespace) -> None:
    if arguments.run:
        _show_one(statuses[0])
    elif statuses:
        output.table(_COLUMNS, [_run_row(each) for each in statuses])


def _run_row(run_status: RunStatus) -> tuple[str, ...]:
    since, pods = age(run_status.record.when), clusters.counted(run_status.roles)
    return (run_status.run, _package(run_status), run_status.state, pods, since, run_status.reason)


def _show_one(run_status: RunStatus) -> None:
    for name, text in _facts(run_status):
        output.line(f"{name:<10}{text}")
    if run_status.roles:
        output.line()
        output.table(_ROLES, [[str(getattr(each, name)) for name in _OF_ROLE] for each in run_status.roles])
    if lines := run_status.lines:
        output.line()
        show_lines(lines)
    if run_status.pods:
        output.line()
        output.table(_PODS, [_pod_row(each) for each in run_status.pods])


def show_lines(lines: Sequence[Line]) -> None:
    """Show the lines of a sweep by what differs between them, or by their arguments where that is much."""
    names = sweep.varied(lines)
    if not 0 < len(names) <= _MOST_COLUMNS:
        names = []
    columns = ("LINE", "STATE", *(name.upper() for name in names or ("arguments",)), "RESULT", "REASON")
    output.table(columns, [_line_row(each, names) for each in lines])


def _line_row(line: Line, names: Sequence[str]) -> tuple[str, ...]:
    cells = [line.parameters.get(name, "") for name in names] if names else [line.arguments]
    return (str(line.number), line.state, *cells, line.result, line.reason)


def _facts(run_status: RunStatus) -> Iterator[tuple[str, str]]:
    record = run_status.record
    yield "run", record.run
    if record.package:
        yield "package", f"{_package(run_status)}, {record.use_case}"
    yield "state", run_status.state
    if run_status.reason:
        yield "reason", run_status.reason
    recorded = f"record {record.number}" if record.number else "no record"
    yield "deployed", f"{age(record.when)} ago by {record.who or 'somebody'}, {recorded}"
    for place in run_status.results:
        yield "results", place
    if record.values:
        yield "values", " ".join(f"{name}={shown(value)}" for name, value in sorted(record.values.items()))
    if record.options:
        yield "options", ", ".join(record.options)
    for each in run_status.missing:
        yield "missing", str(each)
    if run_status.unread:
        yield "unread", f"{', '.join(run_status.unread)}: you may not read these kinds"


def _pod_row(pod: PodStatus) -> tuple[str, ...]:
    return (pod.name, pod.role, pod.state, pod.node, str(pod.restarts), age(pod.created), pod.reason)


def _package(run_status: RunStatus) -> str:
    return f"{run_status.record.package} {run_status.record.version}".strip()


def _next(client: Kubectl, arguments: argparse.Namespace, statuses: Sequence[RunStatus]) -> str:
    """Return what to type next."""
    if not statuses:
        return f"no runs in namespace {client.namespace}; {client.packyard('run', 'PACKAGE/USECASE')} begins one"
    first = statuses[0]
    if not arguments.run:
        return f"{client.packyard('status', first.run)} shows one in detail"
    more = ["--events"] if first.state in (status.STARTING, status.FAILING, status.INCOMPLETE) else []
    return f"next: {client.packyard('logs', first.run, *more)}; {client.packyard('undeploy', first.run)} removes it"
