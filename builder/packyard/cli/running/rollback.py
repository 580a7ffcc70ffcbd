"""Deploy a run as an earlier record has it, from any machine: no local files are needed. This makes a new record.

packyard rollback RUN         as it was deployed before the last time
packyard rollback RUN RECORD  as it was deployed then; of the last record, what
                              is missing on the cluster is completed
packyard rollback RUN --list  the records: when, by whom, which version of the
                              package; -o json has the values

Secrets stay as they are on the cluster, for their data are not recorded.
"""

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace

from packyard.cli import declare
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, deploy
from packyard.core.errors import InputError, Problem
from packyard.running.runs import plan as planning
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord

ROWS = deploy.ROWS
LIST = Rows(
    "record",
    "run=record.run, record=record.number, state, when=record.when, who=record.who, package=record.package, "
    "version=record.version, digest=record.digest, useCase=record.use_case, values=record.values, "
    "options=record.options, action=record.action, source=record.source?",
    "--list",
    columns="RECORD, STATE, WHEN, WHO, VERSION, ACTION, SOURCE",
)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    clusters.add_arguments(parser, is_of_run=True)
    help = "its number (default: the one before the last)"
    parser.add_argument("record", metavar="RECORD", nargs="?", type=int, help=help)
    parser.switch("--list", "list the records, the newest last")
    deploy.add_flags(parser)


def run(arguments: declare.Arguments) -> None:
    """Deploy the objects of a record, or list the records."""
    if arguments.list:
        unfit = ("RECORD", "dry-run", "force", "atomic", "no-wait", "timeout")
        declare.alone(arguments, "rollback", "beside --list", *unfit)
        _list(arguments)
        return
    deploy.check(arguments, "rollback")
    client = clusters.find(arguments)
    before = records.read_run(client, arguments.run)
    record = _chosen(client, arguments, before)
    deploy.carry_out(client, arguments, partial(planning.plan_again, client, before, record))


def _chosen(client: Kubectl, arguments: declare.Arguments, before: Sequence[RunRecord]) -> RunRecord:
    """Return the record that is asked for: by its number, or the one before the last."""
    run, number = arguments.run, arguments.record
    for record in before[-2:-1] if number is None else before:
        if number in (None, record.number):
            return record
    hint = f"{client.packyard('rollback', run, '--list')} lists them"
    raise InputError(Problem(f"run {run} has no record {'before the last' if number is None else number}", hint=hint))


def _list(arguments: declare.Arguments) -> None:
    """Print the records of a run; the last has the state of the run as it is now."""
    client = clusters.find(arguments)
    listed = records.read_run(client, arguments.run)
    state = status.read_one(client, listed[-1]).state
    rows = [SimpleNamespace(record=record, state="superseded") for record in listed[:-1]]
    LIST.show([*rows, SimpleNamespace(record=listed[-1], state=state)], arguments.output)
