"""What a verb makes on a cluster beside a run: Jobs that end by themselves if nobody is left to delete them."""

from __future__ import annotations

from packyard.core.kubernetes.lenient import Object as Part
from packyard.core.kubernetes.lenient import mapping
from packyard.running.runs.run import LABEL, MANAGED, PURPOSE, Object

_LONGEST = 40  # characters of the name of a run in that of what is made for it
_KEPT = 600  # seconds that a Job stays that has ended


def name(run: str, purpose: str, word: str) -> str:
    """Return the name of what a verb makes for a run; ``word`` tells it from others."""
    return f"{run[:_LONGEST].rstrip('-.')}-{purpose}-{word}"


def job(name: str, purpose: str, metadata: Part, spec: Part, *, seconds: int, number: str = "") -> Object:
    """Return a Job of what has such a name, of a pod with annotations of another that is tried once for ``seconds``."""
    labels = {**MANAGED, PURPOSE: purpose, LABEL: name}
    of_pod = {"annotations": mapping(metadata.get("annotations")), "labels": labels}
    of_job = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": seconds,
        "ttlSecondsAfterFinished": _KEPT,
        "template": {"metadata": of_pod, "spec": spec},
    }
    named = {"name": f"{name}{number}", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": named, "spec": of_job}
