"""Kinds by how their work ends: it goes on until the object is deleted, or begins with the object and comes to an end.

What pods of the latter are made of stays as it was: of a Job the server refuses to change it, of an MPIJob it takes the
change, and nothing follows from it. What such pods read at their start, data of a ConfigMap, is not read again either.
"""

from __future__ import annotations

from packyard.core.kubernetes.kinds import APPS, ARGO, BATCH, CORE, JOBSET, KUBEFLOW, LWS, RAY, TRAINER, Kind, of

_ENDLESS = {*of(APPS, "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), *of(LWS, "LeaderWorkerSet")}
_RUN_ONCE = {
    *of(CORE, "Pod"),
    *of(BATCH, "Job"),
    *of(JOBSET, "JobSet"),
    *of(TRAINER, "TrainJob"),
    *of(ARGO, "Workflow"),
    *of(RAY, "RayJob"),
    *of(KUBEFLOW, "MPIJob", "PyTorchJob", "TFJob"),
}


def is_endless(kind: Kind) -> bool:
    """Say whether a workload goes on until it is deleted."""
    return kind in _ENDLESS


def runs_once(kind: Kind) -> bool:
    """Say whether the work of a kind begins with its object, and comes to an end."""
    return kind in _RUN_ONCE
