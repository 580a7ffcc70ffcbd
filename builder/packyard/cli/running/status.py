"""Show what the runs of a namespace do, or one run in detail: how many pods of each role are wanted and ready, and why
something does not run.

The newest is first. With --watch it goes on until every run is over, and fails if one has failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, watching
from packyard.cli.running.ages import age
from packyard.core.errors import IntegrityError, UsageError, shown
from packyard.core.kubernetes.outcome import FAILED
from packyard.running.runs import record as records
from packyard.running.runs import status, sweep, unrecorded, usage
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus
from packyard.running.runs.sweep import Line
from packyard.running.runs.usage import Usage

ROWS = Rows(
    "run",
    "run=record.run, package=record.package, version=record.version, useCase=record.use_case, state, reason, "
    "roles (role=name, wanted, ready, done, failed, restarts), "
    "pods (name, role, index, state, node, restarts, reason, created, started, ended, "
    "usage=usage.document?), "
    "lines (line=number, arguments, parameters, state, reason, pod, tries, result), "
    "missing, unread, results, values=record.values, options=record.options, record=record.number, when=record.when, "
    "who=record.who",
    wide=None,
)
_BESIDE, _LEAST = 5, 10  # lines of a terminal that are not for runs, and runs that are shown on any
_MOST_COLUMNS = 6  # parameters of a sweep that get a column
_COLUMNS = ("RUN", "PACKAGE", "STATE", "PODS", "AGE", "REASON")
_OF_ROLE = ("name", "wanted", "ready", "done", "failed", "restarts")
_ROLES = ("ROLE", *map(str.upper, _OF_ROLE[1:]))
_USED = ("CPU", "MEMORY", "GPU")
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
    text = "also what pods use now: CPU, memory and GPUs, by metrics-server, Prometheus or DCGM"
    declare.switch(parser, "--usage", text)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table of runs, or one of them."""
    if arguments.watch and arguments.output != "text":
        raise UsageError("packyard status: --watch prints text only; packyard status --help shows the usage")
    if arguments.watch and arguments.usage:
        raise UsageError("packyard status: --watch and --usage exclude each other; packyard status --help shows usage")
    found = clusters.find(arguments)
    if arguments.watch:
        return _watch(found, arguments)
    seen = _read(found, arguments)
    page = seen[: _limit(arguments)]
    if arguments.usage:
        page = _measured(found, page)
    if ROWS.show(page, arguments.output):
        _show(page, arguments)
        if len(page) < len(seen):
            output.note(f"{len(seen) - len(page)} more, which are older: --limit {len(seen)} shows all")
        output.note(_next(found, arguments, seen))
    return 0


def _limit(arguments: argparse.Namespace) -> int | None:
    """Return how many runs are shown; None for all."""
    given: int | None = arguments.limit
    if given is not None or not output.on_terminal() or arguments.output != "text":
        return given
    return max(output.size()[1] - _BESIDE, _LEAST)


def _read(
    found: Kubectl, arguments: argparse.Namespace, unfit: Callable[[IntegrityError], None] = output.refusal
) -> list[RunStatus]:
    if arguments.run:
        return [status.read_one(found, _last(found, arguments.run))]
    listed = records.read_all(found, unfit=unfit)
    chosen = records.of_package(found, listed, arguments.package) if arguments.package else listed
    who = found.who() if arguments.mine else ""
    mine = {run: each for run, each in chosen.items() if not who or each[-1].who == who}
    is_all = not (arguments.package or who)
    seen = status.read_namespace(found, mine) if is_all else status.read(found, mine)
    in_state = [each for each in seen if arguments.state in (None, each.state)]
    return sorted(in_state, key=lambda each: each.record.when, reverse=True)


def _last(found: Kubectl, run: str) -> RunRecord:
    """Return the last record of a run, or what its objects say where that is gone."""
    if listed := records.read_all(found, run).get(run):
        return listed[-1]
    return unrecorded.usual(found, run).get(run) or records.read_last(found, run)


def _measured(found: Kubectl, seen: Sequence[RunStatus]) -> list[RunStatus]:
    """Return runs with what their pods use, and say what is not known of any."""
    pods = [each for run in seen for each in run.pods]
    used = usage.read(found, (each.node for each in pods))
    for each in used.unknown:
        output.note(each)
    if not used.pods:
        return [*seen]

    def measured(run: RunStatus) -> RunStatus:
        return replace(run, pods=[replace(each, usage=used.pods.get(each.name, Usage())) for each in run.pods])

    return [measured(run) for run in seen]


def _watch(found: Kubectl, arguments: argparse.Namespace) -> int:
    """Watch until all is over, or somebody ends it."""
    try:
        seen = _draw(found, arguments) if output.can_draw() else watching.lines(lambda: _read(found, arguments))
    except KeyboardInterrupt:
        return 130
    output.note(_next(found, arguments, seen))
    return int(any(each.state == FAILED for each in seen))


def _draw(found: Kubectl, arguments: argparse.Namespace) -> Sequence[RunStatus]:
    """Draw one run, or all, until all is over."""
    if arguments.run:
        return [watching.drawn(found, _last(found, arguments.run), lambda seen: seen.is_over)]
    from packyard.cli.running import drawing, frames  # with rich, which is slow to import

    unfit: dict[str, IntegrityError] = {}
    where = f"namespace {found.namespace}"
    try:
        return drawing.until(
            lambda: _read(found, arguments, lambda error: unfit.update({str(error): error})),
            lambda seen, size: frames.of_runs(seen, where, size),
            lambda seen: all(each.is_over for each in seen),
        )
    finally:
        for error in unfit.values():
            output.refusal(error)


def _show(seen: Sequence[RunStatus], arguments: argparse.Namespace) -> None:
    if arguments.run:
        _show_one(seen[0], wide=arguments.wide)
    elif seen:
        has_usage = any(pod.usage for each in seen for pod in each.pods)
        rows = [_run_row(each, has_usage=has_usage) for each in seen]
        columns = _COLUMNS if not has_usage else (*_COLUMNS[:-1], *_USED, _COLUMNS[-1])
        output.table(columns, rows, wide=arguments.wide, prose=1)


def _run_row(each: RunStatus, *, has_usage: bool) -> tuple[str, ...]:
    since, used = age(each.record.when), _used(each.pods, has_usage)
    return (each.run, _package(each), each.state, clusters.counted(each.roles), since, *used, each.reason)


def _show_one(seen: RunStatus, *, wide: bool) -> None:
    for name, text in _facts(seen):
        output.line(f"{name:<10}{text}")
    if seen.roles:
        output.line()
        output.table(_ROLES, [[str(getattr(each, name)) for name in _OF_ROLE] for each in seen.roles], wide=wide)
    if lines := seen.lines:
        output.line()
        show_lines(lines, wide=wide)
    if seen.pods:
        output.line()
        columns = _PODS if seen.pods[0].usage is None else (*_PODS[:-1], *_USED, _PODS[-1])
        output.table(columns, [_pod_row(each) for each in seen.pods], wide=wide, prose=1)


def show_lines(lines: Sequence[Line], *, wide: bool) -> None:
    """Show the lines of a sweep by what differs between them, or by their arguments where that is much."""
    names = sweep.varied(lines)
    if not 0 < len(names) <= _MOST_COLUMNS:
        names = []
    columns = ("LINE", "STATE", *(name.upper() for name in names or ("arguments",)), "RESULT", "REASON")
    output.table(columns, [_line_row(each, names) for each in lines], wide=wide, prose=1)


def _line_row(line: Line, names: Sequence[str]) -> tuple[str, ...]:
    given = [line.parameters.get(name, "") for name in names] if names else [line.arguments]
    return (str(line.number), line.state, *given, line.result, line.reason)


def _facts(seen: RunStatus) -> Iterator[tuple[str, str]]:
    record = seen.record
    yield "run", record.run
    if record.package:
        yield "package", f"{_package(seen)}, {record.use_case}"
    yield "state", seen.state
    if seen.reason:
        yield "reason", seen.reason
    made = f"record {record.number}" if record.number else "no record"
    yield "deployed", f"{age(record.when)} ago by {record.who or 'somebody'}, {made}"
    for place in seen.results:
        yield "results", place
    if record.values:
        yield "values", " ".join(f"{name}={shown(value)}" for name, value in sorted(record.values.items()))
    if record.options:
        yield "options", ", ".join(record.options)
    for each in seen.missing:
        yield "missing", str(each)
    if seen.unread:
        yield "unread", f"{', '.join(seen.unread)}: you may not read these kinds"


def _pod_row(each: PodStatus) -> tuple[str, ...]:
    since, used = age(each.created), _used([each], each.usage is not None)
    return (each.name, each.role, each.state, each.node, str(each.restarts), since, *used, each.reason)


def _used(pods: Sequence[PodStatus], is_asked: bool) -> tuple[str, ...]:
    """Return the cells of what pods use together; none where that was not asked for."""
    return usage.cells(usage.total(each.usage for each in pods if each.usage)) if is_asked else ()


def _package(each: RunStatus) -> str:
    return f"{each.record.package} {each.record.version}".strip()


def _next(found: Kubectl, arguments: argparse.Namespace, seen: Sequence[RunStatus]) -> str:
    """Return what to type next."""
    if not seen:
        return f"no runs in namespace {found.namespace}; {found.packyard('run', 'PACKAGE/USECASE')} begins one"
    if not arguments.run:
        return f"{found.packyard('status', seen[0].run)} shows one in detail"
    more = ["--events"] if seen[0].state in (status.STARTING, status.FAILING, status.INCOMPLETE) else []
    return f"next: {found.packyard('logs', seen[0].run, *more)}; {found.packyard('undeploy', seen[0].run)} removes it"
