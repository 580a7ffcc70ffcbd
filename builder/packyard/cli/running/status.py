"""Show what the runs of a namespace do, or one run in detail: how many pods of each role are wanted and ready, and why
something does not run.

The newest is first.
"""

from collections.abc import Sequence

from packyard.cli import declare, output
from packyard.cli.rows import Cells, Rows
from packyard.cli.running import clusters
from packyard.core.errors import shown
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus

ROWS = Rows(
    "run",
    "run=record.run, package=record.package, version=record.version, useCase=record.use_case, state, reason, "
    "roles (role=name, wanted, ready, done, failed, restarts), "
    "pods (name, role, index, state, node, restarts, reason, created), "
    "missing, results, values=record.values, options=record.options, record=record.number, when=record.when, "
    "who=record.who",
    columns="RUN, PACKAGE, STATE, PODS=roles, AGE=when, REASON",
)
_CELLS: Cells = {
    "PACKAGE": lambda row: f"{row['package']} {row['version']}".strip(),
    "AGE": lambda row: clusters.age(row["when"]),
}
_PODS = ("POD", "ROLE", "STATE", "NODE", "RESTARTS", "AGE", "REASON")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("run", metavar="RUN", nargs="?", default="", help="one run, in detail")
    clusters.add_arguments(parser)


def run(arguments: declare.Arguments) -> None:
    """Print a table of runs, or one of them."""
    client = clusters.find(arguments)
    statuses = _read(client, arguments)
    if arguments.run and arguments.output == "text":
        _show_one(statuses[0])
    else:
        ROWS.show(statuses, arguments.output, cells=_CELLS)
    output.note(_next(client, arguments, statuses))


def _read(client: Kubectl, arguments: declare.Arguments) -> list[RunStatus]:
    if arguments.run:
        return [status.read_one(client, records.read_last(client, arguments.run))]
    listed = records.read_all(client, unfit=output.refusal)
    return sorted(status.read(client, listed), key=lambda run_status: run_status.record.when, reverse=True)


def _show_one(run_status: RunStatus) -> None:
    output.line(*(f"{name:<10}{text}" for name, text in _facts(run_status) if text))
    if run_status.pods:
        output.line("")
        output.table(_PODS, [_pod_row(pod) for pod in run_status.pods])


def _facts(run_status: RunStatus) -> Sequence[tuple[str, str]]:
    """Return what there is to say of a run, as far as there is something."""
    record, since = run_status.record, clusters.age(run_status.record.when)
    return [
        ("run", record.run),
        ("package", f"{record.package} {record.version}, {record.use_case}" if record.package else ""),
        ("state", run_status.state),
        ("reason", run_status.reason),
        ("pods", ", ".join(map(str, run_status.roles))),
        ("deployed", f"{since} ago by {record.who or 'somebody'}, record {record.number}"),
        *(("results", place) for place in run_status.results),
        ("values", " ".join(f"{name}={shown(value)}" for name, value in sorted(record.values.items()))),
        ("options", ", ".join(record.options)),
        *(("missing", str(reference)) for reference in run_status.missing),
    ]


def _pod_row(pod: PodStatus) -> tuple[str, ...]:
    return (pod.name, pod.role, pod.state, pod.node, str(pod.restarts), clusters.age(pod.created), pod.reason)


def _next(client: Kubectl, arguments: declare.Arguments, statuses: Sequence[RunStatus]) -> str:
    """Return what to type next."""
    if not statuses:
        return f"no runs in namespace {client.namespace}; {client.packyard('run', 'PACKAGE/USECASE')} begins one"
    first = statuses[0]
    if not arguments.run:
        return f"{client.packyard('status', first.run)} shows one in detail"
    more = ["--events"] if first.state in (status.STARTING, status.FAILING, status.INCOMPLETE) else []
    return f"next: {client.packyard('logs', first.run, *more)}; {client.packyard('undeploy', first.run)} removes it"
