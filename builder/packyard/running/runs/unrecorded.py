"""Runs whose records are gone, known by what bears their names: they are shown, and can be deleted.

Somebody deleted ``packyard.RUN.N``. The objects still bear the label `LABEL`, and packyard's field manager of the run.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from packyard.core.kubernetes.lenient import is_ending, labels_of, mapping, mappings, owners_of, text
from packyard.running.runs import apply as applying
from packyard.running.runs import live
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import NUMBER, RunRecord
from packyard.running.runs.run import LABEL, MANAGED, PURPOSE, Reference, can_be

#: What tells whether there are any, where no record says which kinds to read: every server has these.
_USUAL = "configmaps,pods,jobs.batch,deployments.apps"


def of_objects(kubectl: Kubectl, items: Iterable[Mapping[str, Any]]) -> dict[str, RunRecord]:
    """Return what objects that `look.look` found say of runs without a record: a record with the number 0."""
    by_run: dict[str, list[Mapping[str, Any]]] = {}
    for item in items:
        labels = labels_of(item)
        is_of_run = (
            PURPOSE not in labels and not is_ending(item) and (_is_made(item) or MANAGED.items() <= labels.items())
        )
        if is_of_run and (run := text(labels.get(LABEL))):
            by_run.setdefault(run, []).append(item)
    return {run: _record(kubectl, run, by_run[run]) for run in sorted(by_run)}


def usual(kubectl: Kubectl, run: str = "") -> dict[str, RunRecord]:
    """Return what objects of the usual kinds say of runs of a namespace that has no record, or of one; one call."""
    if run and not can_be(run):
        return {}
    words = ("get", _USUAL, f"--selector={_selector(run)}", "--chunk-size=0")
    return of_objects(kubectl, kubectl.read(*words))


def find(kubectl: Kubectl, names: Collection[str], run: str = "") -> dict[str, RunRecord]:
    """Return all that is there of runs beside those of ``names``, or of one, of every kind that may be listed.

    What was not applied by packyard as this run is not among it, whatever labels it has.
    """
    if run and not can_be(run):
        return {}
    listed = kubectl.call("api-resources", "--namespaced", "--verbs=list,delete", "--output=name")
    if not listed.output:
        raise kubectl.refusal(listed.errors)
    kinds = ",".join(listed.output.decode().split())
    words = ("get", kinds, f"--selector={_selector(run)}", "--show-managed-fields", "--chunk-size=0", "--output=json")
    answer = kubectl.call(*words)
    if answer.code and not live.may_not(answer.errors):
        raise kubectl.refusal(answer.errors)
    items = [item for item in kubectl.objects(answer.output) if labels_of(item).get(LABEL) in _managers(item)]
    return {each: run_record for each, run_record in of_objects(kubectl, items).items() if each not in names}


def _selector(run: str) -> str:
    return f"{LABEL}={run},!{NUMBER}" if run else f"{LABEL},!{NUMBER}"


def _managers(item: Mapping[str, Any]) -> set[str]:
    """Return the runs as which packyard applied an object."""
    managers = (text(each.get("manager")) for each in mappings(mapping(item.get("metadata")).get("managedFields")))
    return {each.removeprefix(applying.MANAGER) for each in managers if each.startswith(applying.MANAGER)}


def _is_made(item: Mapping[str, Any]) -> bool:
    """Say whether another object made an object."""
    return bool(owners_of(item))


def _record(kubectl: Kubectl, run: str, items: Sequence[Mapping[str, Any]]) -> RunRecord:
    objects = sorted({Reference.of(item, kubectl.namespace) for item in items if not _is_made(item)})
    times = (text(mapping(item.get("metadata")).get("creationTimestamp")) for item in items)
    applied = gzip.compress(json.dumps(items).encode())
    when = min(filter(None, times), default="")
    return RunRecord(run=run, number=0, when=when, objects=tuple(objects), applied=applied)
