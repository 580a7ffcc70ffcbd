"""Delete runs, and wait until their pods have ended. Claims and volumes stay, and so does all that was written there.

packyard undeploy RUN…                     these runs; packyard status lists them
packyard undeploy --package NAME           all runs of a package, in one namespace
packyard undeploy --all                    all runs of the namespace
packyard undeploy --finished --older-than 7d     those of them that are over, and were deployed before that
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.cli.running.ages import seconds_since
from packyard.cli.running.clusters import REFERENCE
from packyard.core.bundle.record import document
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError, UsageError
from packyard.running.runs import record as records
from packyard.running.runs import status, undeploy, unrecorded
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Reference
from packyard.running.runs.undeploy import Removal

ROWS = Rows("run", f"run, namespace, records, deleted ({REFERENCE}), stayed ({REFERENCE})")
_PAUSE = 0.5  # seconds between two looks at the pods


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="a run, by its name")
    declare.value(parser, "--package NAME", "all runs of a package")
    declare.switch(parser, "--all", "all runs of the namespace")
    declare.switch(parser, "--finished", "only runs that are over; alone, all of the namespace")
    declare.value(parser, "--older-than TIME", "only runs that were deployed before: 12h, 7d", type=clusters.duration)
    declare.switch(parser, "-y --yes", "do not ask")
    declare.switch(parser, "--delete-claims", "delete claims and volumes of the runs as well")
    declare.switch(parser, "--no-wait", "do not wait until the pods have ended")
    declare.value(parser, "--timeout TIME", "how long to wait", type=clusters.duration, default="5m")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Delete runs."""
    is_chosen = arguments.finished or arguments.older_than is not None
    if (count := bool(arguments.runs) + bool(arguments.package) + arguments.all) != 1 and (count or not is_chosen):
        raise UsageError("packyard undeploy: name runs, or --package, or --all; type packyard undeploy RUN")
    found = clusters.find(arguments)
    chosen = _narrowed(found, arguments, _chosen(found, arguments))
    removal = undeploy.find(found, chosen)
    _ask(found, arguments, chosen, removal)
    deleted = delete(found, arguments, removal)
    stayed = [each for each in removal.lasting if each not in deleted]
    ROWS.show([_row(found, name, listed, deleted, stayed) for name, listed in chosen.items()], arguments.output)
    _tell_end(found, removal, stayed)
    return 0


def _chosen(found: Kubectl, arguments: argparse.Namespace) -> dict[str, list[RunRecord]]:
    """Return the records of the runs that the arguments name."""
    one = arguments.runs[0] if len(set(arguments.runs)) == 1 else ""
    known = records.read_all(found, one, None if one else lambda error: output.note(f"{error}; it is left"))
    if arguments.package:
        return records.of_package(found, known, arguments.package)
    if not arguments.runs or any(name not in known for name in arguments.runs):
        known |= {run: [each] for run, each in unrecorded.find(found, known, one).items()}
    if arguments.runs:
        if missing := [name for name in arguments.runs if name not in known]:
            known = known or records.read_all(found)
            raise InputError(*(records.missing(found, name, known) for name in missing))
        return {name: known[name] for name in dict.fromkeys(arguments.runs)}
    if not known:
        raise InputError(Problem(f"there is no run in namespace {found.namespace}"))
    return known


def _narrowed(
    found: Kubectl, arguments: argparse.Namespace, chosen: dict[str, list[RunRecord]]
) -> dict[str, list[RunRecord]]:
    """Return those of the runs that are over or old enough, as the arguments ask."""
    if arguments.older_than is not None:
        chosen = {run: each for run, each in chosen.items() if seconds_since(each[-1].when) > arguments.older_than}
    if arguments.finished:
        over = {each.run for each in status.read(found, chosen) if each.is_over}
        chosen = {run: each for run, each in chosen.items() if run in over}
    if not chosen:
        raise InputError(Problem("no run is chosen", hint=f"{found.packyard('status')} shows state and age"))
    return chosen


def _ask(
    found: Kubectl, arguments: argparse.Namespace, chosen: Mapping[str, Sequence[RunRecord]], removal: Removal
) -> None:
    """Ask before runs are deleted that were not named, or were deployed by somebody else."""
    if arguments.yes:
        return
    who = found.who()
    if arguments.runs and all(each[-1].who == who for each in chosen.values()):
        return
    for name, each in chosen.items():
        gone = "" if each[-1].number else "; its records are gone"
        output.note(f"{name}: deployed by {each[-1].who or 'somebody'} at {each[-1].when}{gone}")
    claims = sum(each.group_kind[1] == "PersistentVolumeClaim" for each in removal.lasting) * arguments.delete_claims
    what = f"{output.counted(len(chosen), 'run')} with {output.counted(len(removal.objects), 'object')}"
    what += f" and {output.counted(claims, 'claim')}, and what is on them" if claims else ""
    if output.ask(f"delete {what} in namespace {found.namespace}? [y/N] ").lower() not in ("y", "yes"):
        raise UnavailableError(Problem("nothing is deleted", hint="--yes deletes without asking"))


def delete(found: Kubectl, arguments: argparse.Namespace, removal: Removal) -> list[Reference]:
    """Delete the objects of runs and tell which, wait as the arguments say, and forget the runs."""
    try:
        deleted = undeploy.delete(found, removal, claims=arguments.delete_claims)
        if arguments.output == "text":
            for each in deleted:
                output.line(f"{each} deleted")
        if not arguments.no_wait:
            _wait(found, arguments, removal)
        undeploy.forget(found, removal)
    except (PackyardError, KeyboardInterrupt):
        again = found.packyard("undeploy", *removal.runs)
        output.warning(f"objects may be left, and the records are; {again} deletes the rest")
        raise
    return deleted


def _wait(found: Kubectl, arguments: argparse.Namespace, removal: Removal) -> None:
    begin = time.monotonic()
    end = begin + arguments.timeout
    told = 0
    while left := undeploy.pods(found, removal):
        if time.monotonic() > end:
            hint = f"{found.by_hand('describe', 'pod', left[0])} shows why"
            raise UnavailableError(Problem(f"{output.counted(len(left), 'pod')} did not end: {left[0]}", hint=hint))
        output.waited()
        text = f"{output.counted(len(left), 'pod')} still to end"
        if len(left) != told:
            output.note(text)
        output.waiting(text, time.monotonic() - begin)
        told = len(left)
        time.sleep(_PAUSE)
    output.waited()


def _tell_end(found: Kubectl, removal: Removal, stayed: Sequence[Reference]) -> None:
    for version, kind in sorted(removal.unknown):
        output.note(f"the cluster no longer knows {kind} of {version}: what there was of it went with its definition")
    for each in stayed:
        command = found.by_hand("delete", each.kind.lower(), each.name)
        output.note(f"{each} stays, with what is on it; {command} deletes it")
    output.note(f"{output.counted(len(removal.runs), 'run')} deleted; {found.packyard('status')} lists the rest")


def _row(
    found: Kubectl, name: str, listed: Sequence[RunRecord], deleted: Sequence[Reference], stayed: Sequence[Reference]
) -> tuple[object, ...]:
    own = {each for record in listed for each in record.objects}
    objects = (document([each for each in some if each in own]) for some in (deleted, stayed))
    return name, found.namespace, len(listed), *objects
