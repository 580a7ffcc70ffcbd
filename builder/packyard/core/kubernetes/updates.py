"""Which fields of an object that is on a cluster can still be changed there, and act.

Work that comes to an end begins when its object is created. What its pods were made of stays as it was: of a Job the
server refuses to change it, of an MPIJob or a Workflow it takes the change, and nothing follows from it. What such pods
have read at their start, the data of a ConfigMap for example, is no longer read either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from packyard.core.kubernetes.kinds import ARGO, BATCH, CORE, JOBSET, KUBEFLOW, RAY, TRAINER, Kind, of

_TIMES = ("activeDeadlineSeconds", "ttlSecondsAfterFinished")
#: Kinds whose work comes to an end, with the fields below ``spec`` that act while it is there.
_RUN_ONCE: Mapping[Kind, tuple[str, ...]] = {
    (CORE, "Pod"): (),
    (BATCH, "Job"): ("suspend", "parallelism", "backoffLimit", *_TIMES),
    (JOBSET, "JobSet"): ("suspend", "ttlSecondsAfterFinished"),
    (TRAINER, "TrainJob"): ("suspend",),
    (ARGO, "Workflow"): ("suspend", "shutdown", "parallelism", "priority", "ttlStrategy", "podGC"),
    (RAY, "RayJob"): ("suspend",),
    **dict.fromkeys(
        of(KUBEFLOW, "MPIJob", "PyTorchJob", "TFJob"),
        tuple(f"runPolicy.{field}" for field in ("suspend", "backoffLimit", "cleanPodPolicy", *_TIMES)),
    ),
}
_READ_AT_START = (*of(CORE, "ConfigMap", "Secret"), *of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"))


def runs_once(kind: Kind) -> bool:
    """Say whether the work of a kind begins with its object, and comes to an end."""
    return kind in _RUN_ONCE


def fixed(kind: Kind, paths: Iterable[str], *, beside_run: bool) -> list[str]:
    """Return those of the fields of an object that can no longer be changed, or not so that it acts.

    ``beside_run`` says that it belongs to the same run as an object that `runs_once`. Labels and annotations of an
    object itself can always be changed.
    """
    if kind not in _RUN_ONCE and not (beside_run and kind in _READ_AT_START):
        return []
    free = ("metadata", *(f"spec.{field}" for field in _RUN_ONCE.get(kind, ())))
    return [path for path in paths if not any(path == each or path.startswith(f"{each}.") for each in free)]
