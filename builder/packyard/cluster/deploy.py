"""Deploying a run: a record of it, then its objects by server-side apply."""

from __future__ import annotations

import json
from collections.abc import Sequence

from packyard.cluster import record as records
from packyard.cluster import run as runs
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import Prepared
from packyard.cluster.record import RunRecord
from packyard.cluster.run import Object, Reference

#: The field manager of a run: a field that another run, or somebody else, has set is refused by the server.
_MANAGER = "packyard/{}"


def deploy(kubectl: Kubectl, prepared: Prepared, *, who: str, when: str) -> RunRecord:
    """Record a run and apply its objects, in the namespace of ``kubectl``."""
    objects = runs.labelled(prepared.objects, prepared.run)
    before = records.read_all(kubectl, prepared.run).get(prepared.run, [])
    made = RunRecord(
        run=prepared.run,
        number=before[-1].number + 1 if before else 1,
        package=prepared.package,
        version=prepared.version,
        digest=prepared.digest,
        use_case=prepared.use_case,
        values=prepared.values,
        options=tuple(prepared.options),
        who=who,
        when=when,
        objects=tuple(Reference.of(item, kubectl.namespace) for item in objects),
    )
    records.create(kubectl, made, objects)
    apply(kubectl, prepared.run, objects)
    return made


def apply(kubectl: Kubectl, run: str, objects: Sequence[Object]) -> str:
    """Apply objects, in their order, and return kubectl's line for each."""
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}).encode()
    words = ("apply", "--server-side", f"--field-manager={_MANAGER.format(run)}", "--filename=-")
    return kubectl.run(*words, data=data).decode()
