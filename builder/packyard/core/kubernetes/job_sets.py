"""JobSets: those of a package, and those that Kubeflow Trainer makes of its TrainJobs.

A TrainJob names a runtime, which has the template of the JobSet; the JobSet gets the name of the TrainJob. Where the
runtime is not in the package, its JobSets are unknown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import JOBSET, TRAINER, called, is_kind, name_of
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.values import flag

#: Kinds with the template of a JobSet.
_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """The pods of one role: ``sizes`` are fields with their number, of which the first that is not None counts."""

    role: str
    sizes: tuple[Node | None, ...]
    replicas: Node | None
    has_checked_names: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSet:
    """A JobSet and the node of its name; ``trainer`` and ``policy`` of one that Trainer makes may have its size."""

    name: Scalar
    spec: MappingNode
    is_made: bool = False
    trainer: MappingNode | None = None
    policy: MappingNode | None = None

    @property
    def service(self) -> Scalar | None:
        """The name of the Service that is created for it, by which its pods find each other."""
        network = self.spec.mapping("network")
        if network and flag(network.get("enableDNSHostnames")) is False:
            return None
        name = (network.get("subdomain") if network else None) or self.name
        return name if isinstance(name, Scalar) else None

    @property
    def pod_sets(self) -> Iterator[PodSet]:
        """The pods by their roles."""
        for job in mappings(self.spec.get("replicatedJobs")):
            inner = job.mapping("template", "spec")
            sizes = self._sizes(job, inner)
            is_indexed = inner is not None and inner.text("completionMode") != "NonIndexed"
            has_size = self.is_made or sizes[0] is not None
            yield PodSet(
                role=job.text("name"),
                sizes=sizes,
                replicas=job.get("replicas"),
                has_checked_names=is_indexed and has_size,
            )

    def _sizes(self, job: MappingNode, inner: MappingNode | None) -> tuple[Node | None, ...]:
        """Return the fields with the number of pods; Trainer itself sets ``completions``."""
        labels = job.mapping("template", "metadata", "labels")
        if self.is_made and labels and labels.text(_STEP) == "trainer":
            return tuple(item.get("numNodes") for item in (self.trainer, self.policy) if item)
        fields = ("parallelism",) if self.is_made else ("completions", "parallelism")
        return tuple(inner.get(field) if inner else None for field in fields)


def find(objects: Sequence[MappingNode]) -> Iterator[JobSet]:
    """Yield the JobSets of a package, and those that Trainer makes."""
    runtimes = {
        (root.text("kind"), called(root)): root.mapping("spec")
        for root in objects
        if is_kind(root, TRAINER, *_RUNTIMES)
    }
    for root in objects:
        name, spec = name_of(root), root.mapping("spec")
        if name is None or spec is None:
            continue
        if is_kind(root, JOBSET, "JobSet"):
            yield JobSet(name=name, spec=spec)
        elif is_kind(root, TRAINER, "TrainJob") and (reference := spec.mapping("runtimeRef")):
            runtime = runtimes.get((reference.text("kind", default="ClusterTrainingRuntime"), reference.text("name")))
            template = runtime.mapping("template", "spec") if runtime else None
            if runtime and template:
                trainer, policy = spec.mapping("trainer"), runtime.mapping("mlPolicy")
                yield JobSet(name=name, spec=template, is_made=True, trainer=trainer, policy=policy)
