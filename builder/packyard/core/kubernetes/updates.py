"""Kinds whose work begins as their object is created, and comes to an end.

What their pods were made of stays as it was: of a Job the server refuses to change it, of an MPIJob or a Workflow it
takes the change, and nothing follows from it. What such pods have read at their start, the data of a ConfigMap for
example, is no longer read either.
"""

from __future__ import annotations

from packyard.core.kubernetes.kinds import ARGO, BATCH, CORE, JOBSET, KUBEFLOW, RAY, TRAINER, Kind, of

_RUN_ONCE = {
    *of(CORE, "Pod"),
    *of(BATCH, "Job"),
    *of(JOBSET, "JobSet"),
    *of(TRAINER, "TrainJob"),
    *of(ARGO, "Workflow"),
    *of(RAY, "RayJob"),
    *of(KUBEFLOW, "MPIJob", "PyTorchJob", "TFJob"),
}


def runs_once(kind: Kind) -> bool:
    """Say whether the work of a kind begins with its object, and comes to an end."""
    return kind in _RUN_ONCE
