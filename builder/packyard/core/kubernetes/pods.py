"""Where pods stand in objects: one table of kinds, read in plain values (dicts) and in positioned nodes alike.

    Job           spec.template                         a pod template, with the pod below ``spec``
    MPIJob        spec.mpiReplicaSpecs.Worker.template
    Workflow      spec.templates[0]                     an Argo template: Argo makes a pod of its ``container``,
                                                        ``script`` or ``containerSet``, with the Workflow's volumes

The pods of a kind in the table are found by its paths alone. Any other object is searched: each mapping with a list of
``containers`` is taken for a pod, and each object inside, such as an item of a List, is found by its own kind. Of a
TrainJob this finds what it overrides in the pods of its runtime. What is found so may be part of a pod, or a template
of one: no more than the kinds that `are_known` make it as it stands. In a policy there is none: it has patterns, such
as ``memory: "?*"``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from packyard.core.kubernetes import kinds
from packyard.core.kubernetes.kinds import Kind, kind_of, of
from packyard.core.kubernetes.lenient import text
from packyard.core.yaml.node import MappingNode, SequenceNode

#: Keys and indices, from an object down to a part of it.
Path = tuple[str | int, ...]
#: A mapping: plain, or a node.
M = TypeVar("M", bound="Mapping[str, Any] | MappingNode")

Place = tuple[Path, M]
Chain = tuple[Place[M], ...]

_TEMPLATE = ("spec/template/spec",)
_JOB_SETS = "spec/replicatedJobs/*/template/spec/template/spec"
_RAY = ("headGroupSpec/template/spec", "workerGroupSpecs/*/template/spec")
#: The pods of a kind; ``*`` stands for each field or item.
PODS: Mapping[Kind, tuple[str, ...]] = {
    (kinds.CORE, "Pod"): ("spec",),
    (kinds.CORE, "PodTemplate"): ("template/spec",),
    **dict.fromkeys(of(kinds.APPS, "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), _TEMPLATE),
    (kinds.BATCH, "Job"): _TEMPLATE,
    (kinds.BATCH, "CronJob"): ("spec/jobTemplate/spec/template/spec",),
    (kinds.KUBEFLOW, "MPIJob"): ("spec/mpiReplicaSpecs/*/template/spec",),
    (kinds.KUBEFLOW, "PyTorchJob"): ("spec/pytorchReplicaSpecs/*/template/spec",),
    (kinds.KUBEFLOW, "TFJob"): ("spec/tfReplicaSpecs/*/template/spec",),
    (kinds.JOBSET, "JobSet"): (_JOB_SETS,),
    (kinds.LWS, "LeaderWorkerSet"): tuple(
        f"spec/leaderWorkerTemplate/{role}Template/spec" for role in ("leader", "worker")
    ),
    **dict.fromkeys(of(kinds.TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"), (f"spec/template/{_JOB_SETS}",)),
    (kinds.RAY, "RayCluster"): tuple(f"spec/{group}" for group in _RAY),
    (kinds.RAY, "RayJob"): (*(f"spec/rayClusterSpec/{group}" for group in _RAY), "spec/submitterPodTemplate/spec"),
    (kinds.RAY, "RayService"): tuple(f"spec/rayClusterConfig/{group}" for group in _RAY),
}
#: Where a kind of Argo has the ``spec`` of a Workflow.
_WORKFLOWS: Mapping[Kind, str] = {
    **dict.fromkeys(of(kinds.ARGO, "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate"), "spec"),
    (kinds.ARGO, "CronWorkflow"): "spec/workflowSpec",
}
_ARGO_TEMPLATES = ("templateDefaults", "templates/*", "templates/*/steps/*/*/inline", "templates/*/dag/tasks/*/inline")
_CONTAINERS = ("initContainers/*", "containers/*", "ephemeralContainers/*")
_ARGO_MAIN = ("container", "script", "containerSet/containers/*")
_ARGO_CONTAINERS = ("initContainers/*", *_ARGO_MAIN, "sidecars/*")
_OF_ROLES: Mapping[str | int, str] = {
    **{f"{role}Template": role for role in ("leader", "worker")},
    "headGroupSpec": "head",
    "submitterPodTemplate": "submitter",
}
#: Groups of policies, and of objects that others fill in with what they say of them.
_OF_POLICIES = ("kyverno.io", "gatekeeper.sh", "apiextensions.crossplane.io", "policy.open-cluster-management.io")
_COMPONENT = "app.kubernetes.io/component"
_CLAIMS = ("volumeClaimTemplates/*", "volumeClaimPolicies/*/templates/*")


@dataclass(frozen=True)
class Pod(Generic[M]):
    """A pod. ``chain`` has its mapping last and before it those that hold this one, each with its path in the object.

    ``is_argo`` says that the mapping is an Argo template. What is in a pod is looked for once, so that nobody may
    change an object whose pods are at hand.
    """

    chain: Chain[M]
    is_argo: bool = False

    @property
    def path(self) -> Path:
        """Where the mapping stands that describes the pod."""
        return self.chain[-1][0]

    @property
    def spec(self) -> M:
        """The mapping that describes the pod."""
        return self.chain[-1][1]

    @property
    def template(self) -> M | None:
        """What has the pod's metadata, a pod template or a Pod; None for Argo, which takes them from two places."""
        return self.chain[-2][1] if self.path[-1:] == ("spec",) and not self.is_argo else None

    @property
    def role(self) -> str:
        """Which of the pods of its object it is, as the kind has it: ``worker``; else what its component is called."""
        for path, mapping in reversed(self.chain):
            above, last = path[-2:-1], path[-1] if path else ""
            if isinstance(last, int) and (name := text(_get(mapping, "name")) or text(_get(mapping, "groupName"))):
                return name
            if above and str(above[0]).endswith("ReplicaSpecs"):
                return str(last).lower()
            if last in _OF_ROLES:
                return _OF_ROLES[last]
        names = (_get(_get(_get(holder, "metadata"), "labels"), _COMPONENT) for _, holder in reversed(self.chain))
        return next(filter(None, map(text, names)), "")

    @cached_property
    def container_places(self) -> list[Place[M]]:
        """The containers of all kinds, with their paths."""
        patterns = _ARGO_CONTAINERS if self.is_argo else _CONTAINERS
        return [chain[-1] for pattern in patterns for chain in _follow(self.chain, pattern)]

    @cached_property
    def containers(self) -> list[M]:
        """The containers of all kinds."""
        return [container for _, container in self.container_places]

    @cached_property
    def volume_places(self) -> list[Place[M]]:
        """The volumes of the pod, and those that a mapping above it lists, such as a Workflow, with their paths."""
        return [chain[-1] for end in self._ends for chain in _follow(end, "volumes/*")]

    @cached_property
    def volumes(self) -> list[M]:
        """The volumes of the pod, and those that a mapping above it lists."""
        return [volume for _, volume in self.volume_places]

    @cached_property
    def volume_names(self) -> frozenset[str]:
        """The names of what containers may mount: volumes, and the claims that the object makes for its pods."""
        claims = [chain[-1][1] for end in self._ends for pattern in _CLAIMS for chain in _follow(end, pattern)]
        holders = [*self.volumes, *(_get(claim, "metadata") for claim in claims)]
        return frozenset(text(_get(holder, "name")) for holder in holders) - {""}

    def get(self, field: str) -> Any:
        """Return a field of the pod, or None; what an Argo template leaves open is as its Workflow says."""
        holders = reversed(self.chain) if self.is_argo else self.chain[-1:]
        return next((value for _, holder in holders if (value := _get(holder, field)) is not None), None)

    @property
    def _ends(self) -> list[Chain[M]]:
        return [self.chain[: end + 1] for end in range(len(self.chain))]


def knows(kind: Kind) -> bool:
    """Say whether the table has a kind, whose pods are then known whole."""
    return kind in PODS


def are_known(root: Mapping[str, Any] | MappingNode) -> bool:
    """Say whether pods are made as they stand in an object, by what is known of its kind."""
    whole = ((kinds.CORE, "List"), (kinds.TRAINER, "TrainJob"))  # whose items and overrides are what they are
    return kind_of(root) in (*PODS, *_WORKFLOWS, *whole)


def find(root: M) -> list[Pod[M]]:
    """Return the pods of an object."""
    return list(_find(root, (), ()))


def find_all(objects: Iterable[M]) -> list[Pod[M]]:
    """Return the pods of objects."""
    return [pod for root in objects for pod in find(root)]


def _find(value: Any, path: Path, chain: Chain[Any]) -> Iterator[Pod[Any]]:
    """Find the pods of an object by its kind, those of anything else by search."""
    if _is_mapping(value):
        chain = (*chain, (path, value))
        kind = kind_of(value)
        if kind == kinds.CUSTOM or kind[0].endswith(_OF_POLICIES):  # which only look like objects
            return
        if kind in PODS:
            yield from (Pod(end) for pattern in PODS[kind] for end in _follow(chain, pattern))
            return
        if kind in _WORKFLOWS:
            for pattern in _ARGO_TEMPLATES:
                ends = _follow(chain, f"{_WORKFLOWS[kind]}/{pattern}")  # templates, of pods or of steps
                yield from (Pod(end, is_argo=True) for end in ends if any(any(_follow(end, at)) for at in _ARGO_MAIN))
            return
        if isinstance(_get(value, "containers"), list | SequenceNode):
            yield Pod(chain)
    for step, member in _members(value):
        yield from _find(member, (*path, step), chain)


def _follow(chain: Chain[Any], pattern: str) -> Iterator[Chain[Any]]:
    """Yield the mappings that a pattern leads to from the end of a chain, each as the chain that ends with it."""
    path, value = chain[-1]
    return _down(value, path, chain, pattern.split("/"))


def _down(value: Any, path: Path, chain: Chain[Any], steps: list[str]) -> Iterator[Chain[Any]]:
    if not steps:
        if chain[-1][0] == path:
            yield chain
        return
    for step, member in _members(value) if steps[0] == "*" else [(steps[0], _get(value, steps[0]))]:
        inside = (*path, step)
        longer = (*chain, (inside, member)) if _is_mapping(member) else chain
        yield from _down(member, inside, longer, steps[1:])


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict | MappingNode)


def _get(value: Any, field: str) -> Any:
    return value.get(field) if isinstance(value, dict | MappingNode) else None


def _members(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, MappingNode):
        return ((entry.name, entry.value) for entry in value.entries)
    if isinstance(value, SequenceNode):
        return enumerate(item.value for item in value.items)
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
