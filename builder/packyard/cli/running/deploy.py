"""Deploy a use case to a cluster as a run, and wait until its pods run.

packyard deploy DIR                  as it is set; again, it completes what is
                                     missing
packyard deploy DIR WORKERS=8        as if this were set; nothing in DIR changes
packyard deploy DIR RUN_NAME=second  another run of the same use case, beside
                                     the first
packyard deploy DIR --dry-run        only show what would change on the cluster

packyard checks the use case and asks the cluster all that `packyard doctor` asks; if anything is refused, nothing is
applied.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from packyard.cli import declare, output, packages
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, doctor
from packyard.cli.running.clusters import REFERENCE
from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.running.runs import look, status
from packyard.running.runs import plan as planning
from packyard.running.runs import record as records
from packyard.running.runs import undeploy as removing
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.outcome import SUCCEEDED
from packyard.running.runs.plan import Plan
from packyard.running.runs.record import TakenError
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.run import Reference
from packyard.running.runs.status import RunStatus

ROWS = Rows(
    "run", f"run, namespace, record, applied ({REFERENCE}), used ({REFERENCE}), deleted ({REFERENCE}), state, reason"
)
PATIENCE = "10m"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    packages.add_arguments(parser)
    clusters.add_arguments(parser)
    add_flags(parser)
    parser.switch("--no-doctor", "deploy whatever packyard doctor would find")


def run(arguments: declare.Arguments) -> None:
    """Deploy a run, or show what that would change."""
    check(arguments, "deploy")
    client, rendered, _ = clusters.find_for(arguments, "deploy")
    begin(arguments, client, rendered)


def begin(arguments: declare.Arguments, client: Kubectl, rendered: Rendered) -> None:
    """Ask doctor, and deploy what is rendered."""
    with untouched():
        if not arguments.no_doctor:
            doctor.gate(client, rendered)
    carry_out(client, arguments, partial(planning.plan, client, rendered))


def add_flags(parser: declare.Parser) -> None:
    """Declare the flags that `rollback` has as well."""
    parser.switch("--dry-run", "show what would change on the cluster; store nothing")
    parser.switch("--force", "take over what others have set, and what is no run's")
    parser.switch("--atomic", "take back what was applied if the run does not start")
    parser.switch("--no-wait", "do not wait until the pods run")
    parser.value("--timeout TIME", "how long to wait", type=clusters.duration, default=PATIENCE)


@contextmanager
def untouched() -> Iterator[None]:
    """Say of what is refused or interrupted here that nothing is applied."""
    try:
        yield
    except (PackyardError, KeyboardInterrupt):
        output.notice("nothing is applied")
        raise


def check(arguments: declare.Arguments, verb: str) -> None:
    """Refuse flags that do not go together, before anything is asked."""
    if arguments.dry_run:
        declare.alone(arguments, verb, "beside --dry-run", "atomic", "no-wait", "timeout", "output")
    if arguments.no_wait:
        declare.alone(arguments, verb, "beside --no-wait", "timeout")


def carry_out(client: Kubectl, arguments: declare.Arguments, planner: Callable[..., Plan]) -> None:
    """Plan, and show or carry that out.

    With --atomic, the cluster is as it was before a run that does not start, or is interrupted before it does.
    """
    with untouched():
        plan = planner(force=arguments.force)
        if arguments.dry_run:
            output.data(planning.difference(client, plan))
            output.note(*(f"{reference} would be deleted" for reference in plan.obsolete))
            return
    run, shows = plan.record.run, f"{client.packyard('status', plan.record.run)} shows what it does"
    run_status, left = None, f"may be applied in part\n{_ways_on(client, plan)}"
    try:
        _apply(client, arguments, plan)
        left = f"is deployed, and goes on; {shows}"
        if not arguments.no_wait:
            ask, limit = partial(status.read_one, client, plan.record), arguments.timeout
            run_status = clusters.wait(ask, lambda now: now.state != status.STARTING, _words, limit)
        state = (run_status.state, run_status.reason) if run_status else ("", "")
        row = (run, client.namespace, plan.record.number, plan.objects, plan.used, plan.obsolete, *state)
        ROWS.show([row], arguments.output)
        left, count = "", output.counted(len(plan.objects), "object")
        output.note(f"run {run}: {count} applied, recorded as {plan.record.number}")
        if run_status and run_status.state not in (status.RUNNING, SUCCEEDED):
            hint = "" if arguments.atomic and not plan.before else shows
            raise UnavailableError(Problem(f"run {run} {run_status.explained}", hint=hint))
    except (PackyardError, KeyboardInterrupt) as error:
        if isinstance(error, TakenError):
            output.notice("nothing is applied")
        elif arguments.atomic:
            _take_back(client, plan)
        elif left:
            output.notice(f"run {run} {left}")
        raise
    if run_status and run_status.roles and run_status.state == SUCCEEDED and not plan.absent:
        ending = client.packyard("undeploy", run)
        output.warning(f"run {run} has ended, and does not run again: {ending} deletes it, then deploy it anew")
    output.note(f"{client.packyard('logs', run)} prints its log" if run_status and run_status.roles else shows)


def _take_back(client: Kubectl, plan: Plan) -> None:
    """Have the cluster as it was before; where that fails or is interrupted, say so beside what went wrong before."""
    run, before = plan.record.run, plan.before[-1:]
    output.note(f"taking back run {run}")
    try:
        for last in before:
            again = planning.plan_again(client, records.read_run(client, run), last, force=plan.force)
            planning.carry_out(client, again)
            output.notice(f"run {run} is deployed again as record {last.number} has it")
        if not before:
            removal = removing.find(client, {run: [plan.record]})
            look.delete(client, removal.objects)
            look.delete(client, removal.records)
            output.notice(f"run {run} is taken back: its objects are deleted")
    except (PackyardError, KeyboardInterrupt) as failure:
        if isinstance(failure, PackyardError):
            output.refusal(failure)
        output.notice(f"run {run} is not taken back\n{_ways_on(client, plan)}")


def _ways_on(client: Kubectl, plan: Plan) -> str:
    """Say what to type where a run is applied in part."""
    run = plan.record.run
    ways = [(plan.record, "completes it"), *((record, "deploys what was there before") for record in plan.before[-1:])]
    again = [f"  {client.packyard('rollback', run, str(record.number))} {what}" for record, what in ways]
    return "\n".join([*again, f"  {client.packyard('undeploy', run)} removes it"])


def _apply(client: Kubectl, arguments: declare.Arguments, plan: Plan) -> None:
    def tell(reference: Reference, what: str = "") -> None:
        if arguments.output == "text":
            output.line(f"{reference} {what or ('created' if reference in plan.absent else 'configured')}")

    output.warning(*planning.carry_out(client, plan, tell))
    for reference in plan.obsolete:
        tell(reference, "deleted")
    for reference in plan.used:
        tell(reference, "was there, and is used as it is")


def _words(run_status: RunStatus) -> str:
    roles = ", ".join(map(str, run_status.roles))
    more = (f": {roles}" if roles else "") + (f"; {run_status.reason}" if run_status.reason else "")
    return f"{run_status.run} {run_status.phrase}{more}"
