"""What `deploy` and `rollback` have in common: they plan, show or carry out, and wait; and say what is done so far."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, undeploy, watching
from packyard.cli.running.clusters import REFERENCE
from packyard.core.bundle.record import document
from packyard.core.errors import PackyardError, Problem, UnavailableError, UsageError
from packyard.core.kubernetes.outcome import SUCCEEDED
from packyard.running.runs import deploy, status
from packyard.running.runs import record as records
from packyard.running.runs import undeploy as removing
from packyard.running.runs.changes import FixedError
from packyard.running.runs.deploy import Plan
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import TakenError
from packyard.running.runs.run import Reference
from packyard.running.runs.status import RunStatus

ROWS = Rows(
    "run",
    f"run, namespace, record, recorded, applied ({REFERENCE}), used ({REFERENCE}), deleted ({REFERENCE}), "
    "state, reason",
)
_PAUSE = 1.0  # seconds between two looks at a run
_SHOWS = {"logs": "prints its log", "status": "shows what it does"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    declare.switch(parser, "--diff", "show what would change on the cluster; store nothing")
    declare.switch(parser, "--force", "take over what others have set, and objects that belong to no run")
    declare.switch(parser, "--atomic", "take back what was applied if the run does not start: undeploy, or rollback")
    text = "delete a run of that name first that is over, or has fields that can no longer be changed; claims stay"
    declare.switch(parser, "--replace", text)
    declare.value(parser, "--keep N", "records of the run that stay", type=clusters.count, default=deploy.KEPT)
    declare.switch(parser, "--no-wait", "do not wait until the pods run")
    declare.switch(parser, "--watch", "then show what the run does, until it is over")
    declare.value(parser, "--timeout TIME", "how long to wait", type=clusters.duration, default="10m")


def add_of_new(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of verbs that deploy what no record has yet."""
    clusters.add_autoscaled(parser)
    declare.switch(parser, "--no-doctor", "deploy whatever packyard doctor would find")


def now() -> str:
    """Return the time as a record has it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def untouched() -> Iterator[None]:
    """Say of what is refused or interrupted here that nothing is applied."""
    try:
        yield
    except (PackyardError, KeyboardInterrupt):
        output.notice("nothing is applied")
        raise


def check(arguments: argparse.Namespace, verb: str) -> None:
    """Refuse flags that do not go together, before anything is asked or deleted."""
    if arguments.diff and arguments.replace:
        flag = "--dry-run" if vars(arguments).get("dry_run") else "--diff"
        problem = f"{flag} and --replace exclude each other"
        raise UsageError(f"packyard {verb}: {problem}; packyard {verb} --help shows the usage")
    if arguments.watch and (arguments.output != "text" or arguments.no_wait or arguments.diff):
        raise UsageError("packyard: --watch prints text only, and excludes --no-wait and --diff")
    if arguments.keep < 1:
        raise UsageError(f"packyard: --keep {arguments.keep}: the last record stays; type a number from 1 on")


def run(
    found: Kubectl, arguments: argparse.Namespace, run: str, plan: Callable[..., Plan], *, again: str, another: str
) -> int:
    """Plan, and show or carry that out; ``again`` is the command that completes it, ``another`` deploys another run."""
    with untouched():
        plan = partial(plan, who=found.who(), when=now(), force=arguments.force, hint=another)
        made = _replacing(found, arguments, run, plan) if arguments.replace else plan()
    if arguments.diff:
        return _show(found, made)
    _tell_all(made.warnings)
    with _taken_back(found, arguments, made):
        if made.record.objects:
            _carry_out(found, arguments, made, again)
        for each in made.used:
            _tell(arguments, each, "was there, and is used as it is")
        seen = None if arguments.no_wait or not made.record.objects else _wait(found, arguments, made)
        ROWS.show([_row(found, made, seen)], arguments.output)
        code = _tell_end(found, arguments, made, seen, another)
    return watching.one(found, made.record) if arguments.watch and made.record.objects else code


def _replacing(found: Kubectl, arguments: argparse.Namespace, run: str, plan: Callable[[], Plan]) -> Plan:
    """Return a plan; a run in its way that is over, or whose fields can no longer be changed, is deleted first."""
    try:
        made = plan()
        if not made.before or not status.read_one(found, made.before[-1]).is_over:
            return made
        before = made.before
    except FixedError:
        before = records.read_run(found, run)
    removal = replace(removing.find(found, {run: before}), records=())  # its history goes on
    waiting = argparse.Namespace(**{**vars(arguments), "delete_claims": False, "no_wait": False})
    undeploy.delete(found, waiting, removal)
    return plan()


@contextmanager
def _taken_back(found: Kubectl, arguments: argparse.Namespace, made: Plan) -> Iterator[None]:
    """With --atomic, have the cluster as it was before a run that does not start; what takes back may fail, too."""
    try:
        yield
    except PackyardError as error:
        if not (arguments.atomic and made.is_new) or isinstance(error, TakenError):
            raise
        if made.before:
            last, there = made.before[-1], records.read_run(found, made.record.run)
            deploy.carry_out(found, deploy.plan_again(found, there, last, who=found.who(), when=now()))
            output.notice(f"run {made.record.run} is deployed again as record {last.number} has it")
        else:
            removal = removing.find(found, {made.record.run: [made.record]})
            removing.delete(found, removal, claims=False)
            removing.forget(found, removal)
            output.notice(f"run {made.record.run} is taken back: its objects are deleted")
        raise


def _show(found: Kubectl, made: Plan) -> int:
    output.diff(deploy.difference(found, made))
    for words, references in (
        ("would be deleted", made.obsolete),
        ("is there, and would be used as it is", made.used),
        ("is new, and can only be shown when what it refers to is there", made.unseen),
    ):
        for each in references:
            output.note(f"{each} {words}")
    return 0


def _carry_out(found: Kubectl, arguments: argparse.Namespace, made: Plan, again: str) -> None:
    applied: set[Reference] = set()

    def done(reference: Reference) -> None:
        applied.add(reference)
        _tell(arguments, reference, _change(made, reference))

    try:
        warnings = deploy.carry_out(found, made, done, keep=arguments.keep)
    except (PackyardError, KeyboardInterrupt) as error:
        if not applied:
            more = "" if isinstance(error, TakenError) else f"; {again} tries again"
            output.notice(f"nothing is applied{more}")
            raise
        remove = found.packyard("undeploy", made.record.run)
        count = f"{len(applied)} of {output.counted(len(made.objects), 'object')}"
        output.notice(f"run {made.record.run}: {count} applied\n  {again} completes it\n  {remove} removes it")
        raise
    _tell_all(each for each in warnings if each not in made.warnings)
    for each in made.obsolete:
        _tell(arguments, each, "deleted")


def _change(made: Plan, reference: Reference) -> str:
    """Return what has come of an object, in kubectl's words."""
    there = "unchanged" if reference in made.unchanged else "configured"
    return "created" if reference in made.absent else there


def _tell(arguments: argparse.Namespace, reference: Reference, what: str) -> None:
    if arguments.output == "text":
        output.line(f"{reference} {what}")


def _tell_all(warnings: Iterable[str]) -> None:
    for each in warnings:
        output.warning(each)


def _wait(found: Kubectl, arguments: argparse.Namespace, made: Plan) -> RunStatus:
    """Return what a run does as soon as its pods run, or when the time is over."""
    begin = time.monotonic()
    end = begin + arguments.timeout
    told = ""
    try:
        if arguments.watch and output.can_draw():

            def is_told(seen: RunStatus) -> bool:
                return seen.state != status.STARTING or time.monotonic() > end

            return watching.drawn(found, made.record, is_told, stays=False)
        while True:
            seen = clusters.patiently(lambda: status.read_one(found, made.record))
            told, before = _words(seen), told
            output.waited()
            if told != before:
                output.note(told)
            output.waiting(f"waiting: {told}", time.monotonic() - begin)
            if seen.state != status.STARTING or time.monotonic() > end:
                return seen
            time.sleep(_PAUSE)
    except (PackyardError, KeyboardInterrupt):
        output.notice(f"run {made.record.run} is deployed, and goes on; {_next(found, made, 'status')}")
        raise
    finally:
        output.waited()


def _words(seen: RunStatus) -> str:
    roles = clusters.counted(seen.roles)
    return f"{seen.run} {seen.said}" + (f": {roles}" if roles else "") + (f"; {seen.reason}" if seen.reason else "")


def _tell_end(found: Kubectl, arguments: argparse.Namespace, made: Plan, seen: RunStatus | None, another: str) -> int:
    """Say what has come of it and what to type next; return the exit code."""
    record = made.record
    if not record.objects:
        output.note("nothing is deployed: all of it is there, and belongs to no run or another one")
        return 0
    what = "recorded as" if made.is_new else f"as deployed at {record.when}, record"
    count = output.counted(len(made.objects), "object")
    changed = "unchanged" if made.unchanged.issuperset(made.objects) else "applied"
    output.note(f"run {record.run}: {count} {changed}, {what} {record.number}")
    if seen and seen.state not in (status.RUNNING, SUCCEEDED):
        late = "is not running yet" if seen.state == status.STARTING else seen.said
        problem = f"run {record.run} {late}: {seen.reason}" if seen.reason else f"run {record.run} {late}"
        raise UnavailableError(Problem(problem, hint=_next(found, made, "status")))
    if seen and seen.roles and seen.state == SUCCEEDED and not made.is_new:
        output.warning(f"run {record.run} has ended, and does not run again; {another}")
    if arguments.watch:
        return 0
    output.note(_next(found, made, "logs" if seen and seen.roles else "status"))
    return 0


def _next(found: Kubectl, made: Plan, verb: str) -> str:
    return f"{found.packyard(verb, made.record.run)} {_SHOWS[verb]}"


def _row(found: Kubectl, made: Plan, seen: RunStatus | None) -> tuple[object, ...]:
    record, state = made.record, (seen.state, seen.reason) if seen else ("", "")
    objects = (document(each) for each in ([*made.objects], made.used, made.obsolete))
    return record.run, found.namespace, record.number, made.is_new, *objects, *state
