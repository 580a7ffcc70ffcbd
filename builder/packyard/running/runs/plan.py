"""What deploying a run does: all that can refuse it is asked first; then it is recorded, and its objects are applied.

What is there of no run or of another run is left as it is. Objects that the run had and no longer has are deleted, but
for those that outlive runs.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.kubernetes.kinds import CORE, LASTING, RUN_ONCE, TRAINER, of
from packyard.core.kubernetes.lenient import finalizers, is_ending, labels_of, mapping, text
from packyard.running.runs import apply as applying
from packyard.running.runs import look, secrets
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.apply import Done
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.run import LABEL, Object, Reference

#: Records of a run that stay, as of a release of Helm.
_KEPT = 10
#: Kinds that pods read at their start, or are made of.
_READ = (*of(CORE, "ConfigMap"), *of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"))
#: What the server says of a field that only a new object can have.
_FIXED = re.compile(r"\bimmutable\b|updates to statefulset spec for fields other|may not change|cannot change roleRef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What deploying a run will do.

    ``record`` is new, ``before`` are those that are there; ``objects`` are applied: ``absent`` are those of them that
    are not there, ``unseen`` those that the server admits only after others of the run, so that no dry run knows them.
    ``used`` are objects that outlive runs, are there, and stay; ``obsolete`` are objects of the run that it no longer
    has.
    """

    record: RunRecord
    before: Sequence[RunRecord]
    objects: Mapping[Reference, Object]
    absent: Collection[Reference]
    unseen: Collection[Reference]
    used: Sequence[Reference]
    obsolete: Sequence[Reference]
    force: bool


def plan(kubectl: Kubectl, rendered: Rendered, *, who: str = "", when: str = "", force: bool = False) -> Plan:
    """Ask all that can refuse a run, in the namespace of ``kubectl``, and store nothing.

    It is deployed by the user of ``kubectl`` and now, unless the arguments say otherwise.

    Raises `ConflictError` for what is there and somebody else's, or was read by pods that are there, and what the
    server refuses, of all objects at once.
    """
    drafted = replace(rendered.draft, run=rendered.run, who=who or kubectl.who(), when=when or _now())
    before = records.read_all(kubectl, rendered.run).get(rendered.run, [])
    objects = runs.labelled(rendered.objects, rendered.run, kubectl.namespace)
    beside = f"{runs.SETTER}=NAME deploys another run beside it" if runs.SETTER in rendered.setters else ""
    return _plan(kubectl, before, drafted, objects, force=force, beside=beside)


def plan_again(kubectl: Kubectl, before: Sequence[RunRecord], record: RunRecord, *, force: bool = False) -> Plan:
    """Do what `plan` does for a run as one of its records says; its Secrets have to be there, and stay as they are."""
    drafted = replace(record, who=kubectl.who(), when=_now(), action="rollback", source=record.number)
    return _plan(kubectl, before, drafted, record.read_objects(), force=force)


def _plan(
    kubectl: Kubectl,
    before: Sequence[RunRecord],
    drafted: RunRecord,
    objects: Sequence[Object],
    *,
    force: bool,
    beside: str = "",
) -> Plan:
    if before and before[-1].who != drafted.who and not force:
        problem = f"run {drafted.run} was deployed by {before[-1].who or 'somebody else'} at {before[-1].when}"
        raise ConflictError(Problem(problem, hint="; ".join(filter(None, ("--force changes it", beside)))))
    wanted = {Reference.of(item, kubectl.namespace): item for item in objects}
    former = {item for record in before for item in record.objects if item.namespace in ("", kubectl.namespace)}
    present = look.read(kubectl, list(wanted), sorted(former - set(wanted)))
    own = {reference for reference, item in present.items() if runs.is_of(item, drafted.run, kubectl.namespace)}
    used = [item for item in wanted if item in present and item not in own and item.group_kind in LASTING]
    recorded = {reference: item for reference, item in wanted.items() if reference not in used}
    blank = {reference for reference, item in recorded.items() if _is_blank(item)} if drafted.source else set()
    wanted_there = {reference: item for reference, item in present.items() if reference in wanted}
    refuse(_taken(wanted_there, own, kubectl, beside, force=force), ConflictError)
    refuse(_unrecorded(blank - own), ConflictError)
    refuse([] if force else _plain(recorded))
    applied = {reference: item for reference, item in recorded.items() if reference not in blank}
    absent = [reference for reference in applied if reference not in present]
    unseen = [reference for reference in applied if applying.waits_for(reference, absent)]
    anew = f"{kubectl.packyard('undeploy', drafted.run)} deletes it, then deploy it again"
    number = before[-1].number + 1 if before else 1
    record = replace(drafted, number=number, objects=tuple(recorded)).of(list(recorded.values()))
    try:
        visible = [item for reference, item in applied.items() if reference not in unseen]
        applying.apply(kubectl, drafted.run, [*visible, record.to_object()], force=force, is_trial=True)
    except InputError as error:
        if any(_FIXED.search(problem.message) for problem in error.problems):
            last = Problem(error.problems[-1].message, hint=f"what is there stays as it is; {anew}")
            raise ConflictError(*error.problems[:-1], last) from error
        raise
    started = [reference for reference in recorded if reference in own and reference.group_kind in RUN_ONCE]
    for item in before[-1].read_objects() if before and started else []:
        reference = Reference.of(item, kubectl.namespace)
        is_heeded = reference not in started and reference.group_kind not in _READ
        if not is_heeded and reference in own and reference in applied and _work(applied[reference]) != _work(item):
            problem = f"{reference} changes, and the pods of {started[0]} stay as they were made"
            raise ConflictError(Problem(problem, hint="; ".join(filter(None, (anew, beside)))))
    return Plan(
        record=record,
        before=before,
        objects=applied,
        absent=absent,
        unseen=unseen,
        used=used,
        obsolete=[reference for reference in sorted(own - set(wanted)) if reference.group_kind not in LASTING],
        force=force,
    )


def carry_out(kubectl: Kubectl, planned: Plan, done: Done = lambda _: None) -> Sequence[str]:
    """Record a run, apply its objects and delete those that it no longer has; return the warnings of the server."""
    records.create(kubectl, planned.record)
    at_once, late = (
        [item for reference, item in planned.objects.items() if (reference in planned.unseen) is is_late]
        for is_late in (False, True)
    )
    run, warnings = planned.record.run, list[str]()
    warnings += applying.apply(kubectl, run, at_once, force=planned.force, done=done)
    warnings += applying.apply_late(kubectl, run, late, force=planned.force, done=done)
    look.delete(kubectl, planned.obsolete)
    records.keep(kubectl, [*planned.before, planned.record], _KEPT)
    return warnings


def difference(kubectl: Kubectl, planned: Plan) -> bytes:
    """Return as a unified diff what carrying out a plan would change on the cluster, but for what is unseen."""
    visible = [item for reference, item in planned.objects.items() if reference not in planned.unseen]
    return applying.difference(kubectl, planned.record.run, visible, force=planned.force) if visible else b""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_blank(item: Object) -> bool:
    """Say whether it is a Secret of a record, which has no data: that of the cluster stays."""
    return item.get("kind") == "Secret" and not ("data" in item or "stringData" in item)


def _unrecorded(missing: Collection[Reference]) -> Iterator[Problem]:
    hint = "deploy the run from its directory: packyard deploy DIR"
    for reference in missing:
        yield Problem(f"{reference} is not there any more, and its data are not recorded", hint=hint)


def _taken(
    present: Mapping[Reference, Object], own: Collection[Reference], kubectl: Kubectl, beside: str, *, force: bool
) -> Iterator[Problem]:
    """Yield what is being deleted, is another run's, or no run's, unless that is to be taken over."""
    for reference, item in present.items():
        labels = labels_of(item)
        run, namespace = text(labels.get(LABEL)), text(labels.get(runs.NAMESPACE))
        if is_ending(item):
            finalizer = f", and held by its finalizer {', '.join(names)}" if (names := finalizers(item)) else ""
            yield Problem(f"{reference} is being deleted{finalizer}", hint="try again in a moment")
        elif reference in own or reference.group_kind in LASTING:
            continue
        elif run:
            where = f" in namespace {namespace}" if namespace not in ("", kubectl.namespace) else ""
            shows = f"packyard status {run} -n {namespace or kubectl.namespace} shows that run"
            yield Problem(f"{reference} belongs to run {run}{where}", hint=beside or shows)
        elif not force:
            hint = "; ".join(filter(None, ("--force makes it the run's", beside)))
            yield Problem(f"{reference} is there, and belongs to no run", hint=hint)


def _plain(objects: Mapping[Reference, Object]) -> Iterator[Problem]:
    """Yield what looks like a secret outside of a Secret."""
    problem = "looks like a secret, and everybody sees it who may read this object"
    hint = "keep it in a Secret; --force deploys it as it is"
    for reference, item in objects.items():
        yield from (Problem(f"{reference}: {path} {problem}", hint=hint) for path in secrets.find(item))


def _work(item: Mapping[str, Any]) -> Object:
    """Return what pods are made of, or read: all but names, labels and whether something is suspended."""
    work = {key: value for key, value in item.items() if key not in ("metadata", "suspend")}
    return {key: _work(mapping(value)) if key in ("spec", "runPolicy") else value for key, value in work.items()}
