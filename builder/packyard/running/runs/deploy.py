"""Deploying a run: all that can refuse it is asked first; then it is recorded, and its objects are applied.

A run that is there and equal is completed, and has no new record. What is there of no run or of another run is left as
it is. Objects that the run had and no longer has are deleted, but for those that outlive runs.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.kubernetes import lifetimes
from packyard.core.kubernetes.kinds import BATCH, CORE, JOBSET, LASTING, TRAINER, of
from packyard.core.kubernetes.lenient import is_ending, labels_of, mapping, text
from packyard.running.runs import apply as applying
from packyard.running.runs import look, secrets
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.apply import Done
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import LABEL, Object, Reference

#: Records of a run that stay, as of a release of Helm.
KEPT = 10
_NAMESPACE, _SECRET = (CORE, "Namespace"), (CORE, "Secret")
_READ_AT_START = (*of(CORE, "ConfigMap"), *of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"))
#: Groups of kinds of which the server itself refuses to change what pods are made of.
_GUARDED = (CORE, BATCH, JOBSET)
#: What the server says of a field that only a new object can have.
_FIXED = re.compile(
    r"\bimmutable\b|updates to statefulset spec for fields other|pod updates may not change|cannot change roleRef"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What deploying a run will do.

    ``record`` is new, or that of the run as it is there and is completed; ``before`` are those that are there;
    ``recorded`` are its objects, ``objects``
    those that are applied, ``absent`` those of them that are not there, ``unchanged`` those that the server has as
    they are. ``used`` are objects that outlive runs, are
    there, and stay as they are; ``obsolete`` are objects of the run that it no longer has.
    """

    record: RunRecord
    before: Sequence[RunRecord]
    is_new: bool
    recorded: Sequence[Object]
    objects: Mapping[Reference, Object]
    absent: Sequence[Reference]
    unchanged: frozenset[Reference] = frozenset()
    used: Sequence[Reference]
    obsolete: Sequence[Reference]
    force: bool
    warnings: Sequence[str] = ()

    def late(self, reference: Reference) -> bool:
        """Say whether the server admits an object only after another one of the run was applied."""
        return applying.waits_for(reference, self.absent)

    @property
    def unseen(self) -> list[Reference]:
        """The objects of which a dry run knows nothing: the server looks for others as it admits them."""
        absent = {each.name for each in self.absent if each.group_kind == _NAMESPACE}
        return [each for each in self.objects if each.namespace in absent or self.late(each)]

    @property
    def seen(self) -> list[Object]:
        """The objects that a dry run can judge."""
        unseen = set(self.unseen)
        return [item for each, item in self.objects.items() if each not in unseen]

    @property
    def namespaces(self) -> list[Object]:
        """The namespaces of the run that are not there; nothing can be asked of objects in them before."""
        return [self.objects[each] for each in self.absent if each.group_kind == _NAMESPACE]


def plan(kubectl: Kubectl, prepared: Prepared, *, who: str, when: str, force: bool = False, beside: str = "") -> Plan:
    """Ask all that can refuse a run, in the namespace of ``kubectl``, and store nothing.

    ``beside`` says how to deploy another run beside it, where it can be another. Raises `ConflictError` for what is
    there and somebody else's, or was read by pods that are there, and what the server refuses, of all objects at once.
    """
    drafted = replace(prepared.draft, run=prepared.run, who=who, when=when)
    before = records.read_all(kubectl, prepared.run).get(prepared.run, [])
    objects = runs.labelled(prepared.objects, prepared.run, kubectl.namespace)
    return _plan(kubectl, before, drafted, objects, force=force, beside=beside)


def plan_again(
    kubectl: Kubectl, before: Sequence[RunRecord], record: RunRecord, *, who: str, when: str, force: bool = False
) -> Plan:
    """Do what `plan` does for a run as one of its records says; its Secrets have to be there, and stay as they are."""
    drafted = replace(record, who=who, when=when, action="rollback", source=record.number)
    return _plan(kubectl, before, drafted, record.read_objects(), keep_secrets=True, force=force)


def _plan(
    kubectl: Kubectl,
    before: Sequence[RunRecord],
    drafted: RunRecord,
    objects: Sequence[Object],
    *,
    keep_secrets: bool = False,
    force: bool,
    beside: str = "",
) -> Plan:
    _check_owner(before, drafted, beside, force=force)
    wanted = {Reference.of(item, kubectl.namespace): item for item in objects}
    former = {each for record in before for each in record.objects if each.namespace in ("", kubectl.namespace)}
    there = look.read(kubectl, list(wanted), sorted(former - set(wanted)))
    own = {each for each, item in there.items() if runs.is_of(item, drafted.run, kubectl.namespace)}
    used = [each for each in wanted if each in there and each not in own and each.group_kind in LASTING]
    recorded = {each: item for each, item in wanted.items() if each not in used}
    _check_ending(kubectl, {each: item for each, item in there.items() if each in wanted})
    others = {each: there[each] for each in recorded if each in there and each not in own}
    _check_free(kubectl, others, beside, force=force)
    if not force:
        _check_secrets(recorded)
    kept = _without_data(recorded) if keep_secrets else set()
    _check_kept(kept - own)
    number = before[-1].number + 1 if before else 1
    record = replace(drafted, number=number, objects=tuple(recorded)).of(list(recorded.values()))
    is_new = not (before and own and _is_equal(before[-1], record, recorded, there))
    planned = Plan(
        record=record if is_new else before[-1],
        before=before,
        is_new=is_new,
        recorded=list(recorded.values()),
        objects={each: item for each, item in recorded.items() if each not in kept},
        absent=[each for each in recorded if each not in there],
        used=used,
        obsolete=[each for each in sorted(own - set(wanted)) if each.group_kind not in LASTING],
        force=force,
    )
    anew = kubectl.packyard("undeploy", drafted.run)
    try:
        warnings, admitted = _admitted(kubectl, planned)
    except InputError as error:
        if any(_FIXED.search(each.message) for each in error.problems):
            last = error.problems[-1].message
            hint = f"what is there stays as it is; {anew} deletes it, then deploy it again"
            raise ConflictError(*error.problems[:-1], Problem(last, hint=hint)) from error
        raise
    as_admitted = {Reference.of(item, kubectl.namespace): _content(item) for item in admitted}
    unchanged = frozenset(each for each, item in as_admitted.items() if each in own and item == _content(there[each]))
    changed = [each for each in as_admitted if each in own and each not in unchanged]
    started = [each for each in recorded if each in own and lifetimes.runs_once(each.group_kind)]
    hint = "; ".join(filter(None, (f"{anew} deletes it, then deploy it again", beside)))
    refuse(_unheeded(changed, started, as_admitted, there, hint), ConflictError)
    return replace(planned, warnings=warnings, unchanged=unchanged)


def _without_data(objects: Mapping[Reference, Object]) -> set[Reference]:
    """Return the Secrets whose data no record has: those of the cluster stay."""
    return {
        each
        for each, item in objects.items()
        if each.group_kind == _SECRET and not ("data" in item or "stringData" in item)
    }


def carry_out(kubectl: Kubectl, planned: Plan, done: Done = lambda _: None, *, keep: int = KEPT) -> Sequence[str]:
    """Record a run, apply its objects and delete those that it no longer has; return the warnings of the server.

    Of its records the newest are kept, so many.
    """
    run, warnings = planned.record.run, list[str]()
    if planned.namespaces:
        warnings += applying.apply(kubectl, run, planned.namespaces, force=planned.force)
        absent = [each for each in planned.absent if each.group_kind != _NAMESPACE]
        warnings += _admitted(kubectl, replace(planned, absent=absent))[0]
    if planned.is_new:
        records.create(kubectl, planned.record, planned.recorded)
    at_once, late = (
        [item for each, item in planned.objects.items() if planned.late(each) is is_late] for is_late in (False, True)
    )
    warnings += applying.apply(kubectl, run, at_once, force=planned.force, done=done)
    warnings += applying.apply_late(kubectl, run, late, force=planned.force, done=done)
    look.delete(kubectl, planned.obsolete)
    if planned.is_new:
        records.keep(kubectl, [*planned.before, planned.record], keep)
    return warnings


def difference(kubectl: Kubectl, planned: Plan) -> bytes:
    """Return as a unified diff what carrying out a plan would change on the cluster, but for what it cannot see."""
    return applying.difference(kubectl, planned.record.run, planned.seen, force=planned.force) if planned.seen else b""


def _admitted(kubectl: Kubectl, planned: Plan) -> tuple[list[str], list[Object]]:
    """Have the server judge all objects that it can, and return its warnings, and what they would be."""
    return applying.attempt(kubectl, planned.record.run, planned.seen, force=planned.force)


def _content(item: Object) -> Object:
    """Return what somebody may have changed of an object."""
    metadata = {key: value for key, value in mapping(item.get("metadata")).items() if key != "managedFields"}
    return {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}


def _check_owner(before: Sequence[RunRecord], drafted: RunRecord, beside: str, *, force: bool) -> None:
    if before and before[-1].who != drafted.who and not force:
        last = before[-1]
        problem = f"run {last.run} was deployed by {last.who or 'somebody else'} at {last.when}"
        raise ConflictError(Problem(problem, hint="; ".join(filter(None, ("--force changes it", beside)))))


def _check_free(kubectl: Kubectl, others: Mapping[Reference, Object], beside: str, *, force: bool) -> None:
    """Refuse objects that are there and belong to no run, unless they are to be taken over, or to another run."""
    problems = []
    for reference, item in others.items():
        labels = labels_of(item)
        run, namespace = text(labels.get(LABEL)), text(labels.get(runs.NAMESPACE))
        if run:
            where = f" in namespace {namespace}" if namespace not in ("", kubectl.namespace) else ""
            shows = f"packyard status {run} -n {namespace or kubectl.namespace} shows that run"
            problems.append(Problem(f"{reference} belongs to run {run}{where}", hint=beside or shows))
        elif not force:
            hint = "; ".join(filter(None, ("--force makes it the run's", beside)))
            problems.append(Problem(f"{reference} is there, and belongs to no run", hint=hint))
    refuse(problems, ConflictError)


def _check_secrets(objects: Mapping[Reference, Object]) -> None:
    problem = "looks like a secret, and everybody sees it who may read this object"
    hint = "keep it in a Secret; --force deploys it as it is"
    places = (f"{reference}: {path}" for reference, item in objects.items() for path, _ in secrets.find(item))
    refuse(Problem(f"{place} {problem}", hint=hint) for place in places)


def _unheeded(
    changed: Sequence[Reference],
    started: Sequence[Reference],
    after: Mapping[Reference, Object],
    before: Mapping[Reference, Object],
    hint: str,
) -> Iterator[Problem]:
    """Yield what the server would let change, and of which pods that were made before take no notice."""
    for each in changed:
        if _work(after[each]) == _work(before[each]):
            continue
        if each.group_kind in _READ_AT_START and started:
            yield Problem(f"{each} changes, and the pods of {started[0]} read it at their start", hint=hint)
        elif each in started and each.group_kind[0] not in _GUARDED:
            yield Problem(f"{each} changes, and its pods stay as they were made", hint=hint)


def _work(item: Mapping[str, Any]) -> Object:
    """Return what pods are made of, or read: all but names, labels and whether something is suspended."""
    kept = {key: value for key, value in item.items() if key not in ("metadata", "status", "suspend")}
    return {key: _work(mapping(value)) if key in ("spec", "runPolicy") else value for key, value in kept.items()}


def _ending_hint(kubectl: Kubectl, reference: Reference) -> str:
    shown = kubectl.by_hand("get", reference.kind.lower(), reference.name, "--output=jsonpath={.metadata.finalizers}")
    return f"try again in a moment; if it stays, {shown} shows who holds it"


def _check_ending(kubectl: Kubectl, there: Mapping[Reference, Object]) -> None:
    ending = (each for each, item in there.items() if is_ending(item))
    refuse((Problem(f"{each} is being deleted", hint=_ending_hint(kubectl, each)) for each in ending), ConflictError)


def _check_kept(missing: Iterable[Reference]) -> None:
    """Refuse Secrets that are not there: what was in them is in no record."""
    hint = "deploy the run from its directory: packyard deploy DIR"
    problem = "is not there any more, and its data are not recorded"
    refuse((Problem(f"{each} {problem}", hint=hint) for each in missing), ConflictError)


def _is_equal(
    last: RunRecord,
    record: RunRecord,
    objects: Mapping[Reference, Object],
    there: Mapping[Reference, Object],
) -> bool:
    """Say whether a record would say what the last one says, and Secrets are what is there."""
    of_last = {each: getattr(last, each) for each in ("number", "who", "when", "applied", "action", "source")}
    as_last = replace(record, **of_last)
    secrets = [each for each in objects if each.group_kind == _SECRET and each in there]
    return (
        as_last == last
        and last.read_objects() == record.read_objects()
        and all(_data(objects[each]).items() <= mapping(there[each].get("data")).items() for each in secrets)
    )


def _data(secret: Object) -> dict[str, object]:
    texts = mapping(secret.get("stringData"))
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in texts.items()}
    return {**mapping(secret.get("data")), **encoded}
