"""Deleting runs: exactly what their records name and what bears their labels, then the records.

Claims, volumes and namespaces stay; another run may use them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import CORE, LASTING
from packyard.running.runs import look
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object, Reference

_CLAIM = ("v1", "PersistentVolumeClaim")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What undeploying runs deletes, and what of them stays."""

    runs: Sequence[str]
    objects: Sequence[Reference]
    lasting: Sequence[Reference]
    records: Sequence[Reference]


def find(kubectl: Kubectl, records: Mapping[str, Sequence[RunRecord]]) -> Removal:
    """Find what there is of runs, by one call; ``records`` are all records of each."""
    named = {run: {item for record in of_run for item in record.objects} for run, of_run in records.items()}
    kinds = {_CLAIM, *((item.api_version, item.kind) for references in named.values() for item in references)}
    present = look.list_(kubectl, kinds, look.selector(records))
    listed = ((run, Reference.of(item, kubectl.namespace)) for run in records for item in present.get(run, {}).values())
    own = sorted(item for run, item in listed if item in named[run] or (item.api_version, item.kind) == _CLAIM)
    return Removal(
        runs=list(records),
        objects=[reference for reference in own if reference.group_kind not in LASTING],
        lasting=[reference for reference in own if reference.group_kind in LASTING],
        records=[
            Reference("v1", "ConfigMap", kubectl.namespace, item.name) for of_run in records.values() for item in of_run
        ],
    )


def left(kubectl: Kubectl, removal: Removal) -> dict[Reference, Object]:
    """Return what is still there of what is deleted, and the pods of the runs, by one call."""
    kinds = {("v1", "Pod"), *((reference.api_version, reference.kind) for reference in removal.objects)}
    listed = look.list_(kubectl, kinds, look.selector(removal.runs))
    items = (item for run in removal.runs for item in listed.get(run, {}).values())
    present = {Reference.of(item, kubectl.namespace): dict(item) for item in items}
    return {key: item for key, item in present.items() if key in removal.objects or key.group_kind == (CORE, "Pod")}
