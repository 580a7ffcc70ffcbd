"""Delete runs, and wait until they are gone. Claims and volumes stay, and so does all that was written there.

packyard undeploy RUN...  packyard status lists them
packyard undeploy --all   all runs of the namespace
"""

import operator
from collections.abc import Mapping, Sequence
from functools import partial

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError, UsageError, refuse
from packyard.core.kubernetes.lenient import finalizers
from packyard.running.runs import look, undeploy
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object, Reference
from packyard.running.runs.undeploy import Removal

ROWS = Rows("run", f"run, namespace, records, deleted ({clusters.REFERENCE}), stayed ({clusters.REFERENCE})")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="a run, by its name")
    parser.switch("--all", "all runs of the namespace")
    parser.switch("-y --yes", "do not ask")
    parser.value("--timeout TIME", "how long to wait", type=clusters.duration, default="5m")
    clusters.add_arguments(parser)


def run(arguments: declare.Arguments) -> None:
    """Delete runs."""
    if bool(arguments.runs) == arguments.all:
        raise UsageError("packyard undeploy: name runs, or --all; type packyard undeploy RUN")
    client = clusters.find(arguments)
    chosen = _chosen(client, arguments)
    removal = undeploy.find(client, chosen)
    if not arguments.yes:
        _ask(client, chosen, removal, is_named=bool(arguments.runs))
    _delete(client, arguments, removal)
    ROWS.show([_row(client, name, listed, removal) for name, listed in chosen.items()], arguments.output)
    for reference in removal.lasting:
        command = client.by_hand("delete", reference.kind.lower(), reference.name)
        output.note(f"{reference} stays, with what is on it; {command} deletes it")
    output.note(f"{output.counted(len(removal.runs), 'run')} deleted; {client.packyard('status')} lists the rest")


def _chosen(client: Kubectl, arguments: declare.Arguments) -> dict[str, list[RunRecord]]:
    """Return the records of the runs that the arguments name."""
    if arguments.runs:
        chosen = {name: records.read_run(client, name) for name in arguments.runs}
    else:
        chosen = records.read_all(client, unfit=lambda error: output.note(f"{error}; it is left"))
    if not chosen:
        raise InputError(Problem("no run is chosen", hint=f"{client.packyard('status')} shows what they do"))
    return chosen


def _ask(client: Kubectl, chosen: Mapping[str, Sequence[RunRecord]], removal: Removal, *, is_named: bool) -> None:
    """Ask before runs are deleted that were not named, or were deployed by somebody else."""
    if is_named and {listed[-1].who for listed in chosen.values()} == {client.who()}:
        return
    output.note(*(f"{name}: deployed by {it[-1].who or 'somebody'} at {it[-1].when}" for name, it in chosen.items()))
    what = f"{output.counted(len(chosen), 'run')} with {output.counted(len(removal.objects), 'object')}"
    if not output.agreed(f"delete {what} in namespace {client.namespace}?"):
        raise UnavailableError(Problem("nothing is deleted", hint="--yes deletes without asking"))


def _delete(client: Kubectl, arguments: declare.Arguments, removal: Removal) -> None:
    """Delete the objects of runs and tell which, wait until they are gone, and forget the runs."""
    try:
        look.delete(client, removal.objects)
        output.line(*(f"{reference} deleted" for reference in removal.objects if arguments.output == "text"))
        ask = partial(undeploy.left, client, removal)
        left = clusters.wait(ask, operator.not_, _still_to_go, arguments.timeout)
        refuse((_held(client, reference, item) for reference, item in sorted(left.items())), UnavailableError)
        look.delete(client, removal.records)
    except (PackyardError, KeyboardInterrupt):
        again = client.packyard("undeploy", *removal.runs)
        output.warning(f"objects may be left, and the records are; {again} deletes the rest")
        raise


def _still_to_go(left: Mapping[Reference, Object]) -> str:
    return f"{output.counted(len(left), 'object')} still to go" if left else ""


def _held(client: Kubectl, reference: Reference, item: Object) -> Problem:
    """Say of an object that it is not gone, and who holds it."""
    shows = client.by_hand("describe", reference.kind.lower(), reference.name)
    if not (names := ", ".join(finalizers(item))):
        return Problem(f"{reference} is not gone yet", hint=f"{shows} shows why")
    hint = f"whoever set it has to take it away, such as an operator that is gone; {shows} shows it"
    return Problem(f"{reference} is held by its finalizer {names}", hint=hint)


def _row(client: Kubectl, name: str, listed: Sequence[RunRecord], removal: Removal) -> tuple[object, ...]:
    own = {item for record in listed for item in record.objects}
    objects = ([item for item in some if item in own] for some in (removal.objects, removal.lasting))
    return name, client.namespace, len(listed), *objects
