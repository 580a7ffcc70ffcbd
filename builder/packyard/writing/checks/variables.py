"""The variables of a container: those of ``env``, and those of the package's ConfigMaps that ``envFrom`` names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import CORE, called, is_kind, names
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.writing.checks.subject import Subject

_TORCH = (
    *("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"),
    *("PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID"),
)
_INDEX = ("JOB_COMPLETION_INDEX",)
_RAY = ("RAY_ADDRESS", "RAY_PORT", "RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE", "FQ_RAY_IP", "RAY_IP")
#: Variables that controllers add to the containers of a kind: their sources say so. Kubernetes expands them, too.
_GIVEN: Mapping[str, Sequence[str]] = {
    "JobSet": _INDEX,
    **dict.fromkeys(("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"), (*_INDEX, *_TORCH)),
    "PyTorchJob": _TORCH,
    "XGBoostJob": ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_ADDRS", "WORKER_PORT"),
    "TFJob": ("TF_CONFIG",),
    "JAXJob": ("COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"),
    "MPIJob": ("K_MPI_JOB_ROLE",),
    "LeaderWorkerSet": ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"),
    **dict.fromkeys(("RayCluster", "RayJob", "RayService"), (*_RAY, "RAY_DASHBOARD_ADDRESS", "RAY_JOB_SUBMISSION_ID")),
}
_DATA = ("data", "binaryData", "stringData")


def of_controllers(root: MappingNode) -> Sequence[str]:
    """Return the variables that controllers add to the containers of an object's pods."""
    job = root.mapping("spec", "jobTemplate", "spec") or root.mapping("spec")
    is_indexed = root.text("kind") in ("Job", "CronJob") and job and job.text("completionMode") == "Indexed"
    return _INDEX if is_indexed else _GIVEN.get(root.text("kind"), ())


@dataclass(frozen=True, slots=True)
class Variables:
    """The value of each variable, of two of one name the later one's; those of ``shared`` are not listed in ``env``.

    They are ``complete`` where the container gets no others from ``envFrom``.
    """

    values: Mapping[str, Node | None]
    shared: frozenset[str]
    complete: bool


def find(container: MappingNode, subject: Subject) -> Variables:
    """Return the variables of a container."""
    values: dict[str, Node | None] = {}
    is_complete = True
    for source in mappings(container.get("envFrom")):
        data = content(source.text("configMapRef", "name"), subject)
        is_complete = is_complete and data is not None
        values |= {source.text("prefix") + entry.name: entry.value for entry in data or ()}
    # What kustomize fills in.
    kustomizations = (root for build in subject.builds for root in build.kustomizations)
    values |= {name.value: None for root in kustomizations for name in names(root.get("vars"))}
    own = {name.value: item.get("value") for item in mappings(container.get("env")) if (name := item.scalar("name"))}
    return Variables({**values, **own}, frozenset(values), is_complete)


def is_filled_in(text: str) -> bool:
    """Say whether others put a text into this one later: Kubernetes a variable, a template or envsubst a value."""
    return any(mark in text for mark in ("$(", "{{", "${"))


def content(name: str, subject: Subject, kind: str = "ConfigMap") -> list[Entry] | None:
    """Return what the ConfigMaps of a name hold; None where there is none, or nobody knows all that one holds.

    ``kind`` may be Secret.
    """
    roots = [
        root for root in (*subject.objects, *subject.generated) if is_kind(root, CORE, kind) and called(root) == name
    ]
    by_root = [[entry for field in _DATA for entry in entries(root.get(field))] for root in roots]
    return [entry for own in by_root for entry in own] if by_root and all(by_root) else None


def data_of(root: MappingNode) -> list[Entry]:
    """Return what a ConfigMap holds; nothing of another object."""
    return entries(root.get("data")) if is_kind(root, CORE, "ConfigMap") else []


def words(container: MappingNode) -> Iterator[Scalar]:
    """Yield the command and the arguments of a container."""
    for name in ("command", "args"):
        yield from scalars(container.get(name))


def stated(root: MappingNode, subject: Subject) -> Iterator[tuple[str, Node | None]]:
    """Yield what an object says of variables: the keys of a ConfigMap, and ``env`` of containers, with their values."""
    yield from ((entry.name, entry.value) for entry in data_of(root))
    for container in subject.containers_of(root):
        yield from ((item.text("name"), item.get("value")) for item in mappings(container.get("env")))
