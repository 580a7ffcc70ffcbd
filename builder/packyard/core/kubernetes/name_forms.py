"""What names have to be: their forms and lengths, and the names that controllers make of that of an object.

MPIJob NAME    ->  pods NAME-worker-9, each a host name: at most 63 characters
CronJob NAME   ->  Jobs NAME-28394857
JobSet NAME    ->  pods NAME-worker-0-9-x7k2p: its webhook limits the whole name to 63 characters
TrainJob NAME  ->  JobSet NAME
LeaderWorkerSet NAME  ->  StatefulSets NAME-9, whose pods NAME-9-9 have a label with the revision
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import job_sets, kinds
from packyard.core.kubernetes.job_sets import JobSet
from packyard.core.kubernetes.kinds import Kind, is_kind, kind_of, name_of, names, of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode, Node, Scalar


@dataclass(frozen=True, slots=True)
class Form:
    """What a name has to be."""

    pattern: re.Pattern[str]
    description: str
    most: int

    def admits(self, text: str) -> bool:
        """Say whether a text may be such a name."""
        return len(text) <= self.most and self.pattern.match(text) is not None


LABEL = Form(re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z"), "lower case letters, digits and dashes", 63)
_HOST = Form(re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z"), "a letter, then lower case letters, digits and dashes", 63)
SUBDOMAIN = Form(
    re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z"),
    "lower case letters, digits, dashes and dots",
    253,
)
_SHORT = Form(SUBDOMAIN.pattern, SUBDOMAIN.description, 63)
LABEL_VALUE = Form(
    re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?\Z"), "letters, digits, dashes, underscores and dots", 63
)
_SEGMENT = Form(re.compile(r"(?!\.\.?\Z)[^/%]+\Z"), "anything but slashes and percent signs", 253)
_PORT = Form(re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*\Z"), "lower case letters, digits and dashes", 15)

#: Fields of a pod that are names.
_FIELDS: Mapping[str, Form] = {
    **dict.fromkeys(("hostname", "subdomain"), LABEL),
    **dict.fromkeys(("priorityClassName", "runtimeClassName", "serviceAccountName", "nodeName"), SUBDOMAIN),
}
#: Kinds whose own name must be more than a subdomain, and what else it is used for.
_KINDS: Mapping[Kind, tuple[Form, str]] = {
    (kinds.CORE, "Namespace"): (LABEL, ""),
    (kinds.CORE, "Service"): (_HOST, ""),
    (kinds.BATCH, "Job"): (_SHORT, "a label of its pods"),
    (kinds.JOBSET, "JobSet"): (_HOST, "with which the hosts of its pods begin"),
    (kinds.LWS, "LeaderWorkerSet"): (_HOST, "which its Service has as well"),
    (kinds.TRAINER, "TrainJob"): (_HOST, "which its JobSet has as well"),
    (kinds.ARGO, "Workflow"): (_SHORT, "a label of its pods"),
    **dict.fromkeys(of(kinds.RBAC, "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"), (_SEGMENT, "")),
}


@dataclass(frozen=True, slots=True)
class Name:
    """A name that has to have a form: the text of ``node``, followed by ``after`` where a controller adds to it.

    A tuple in ``after`` stands for the highest index of something: its first node that is not None has the count.
    """

    node: Scalar
    what: str
    form: Form
    after: tuple[str | tuple[Node | None, ...], ...] = ()


def find(
    objects: Sequence[MappingNode], pods_of: Callable[[MappingNode], Sequence[Pod[MappingNode]]]
) -> Iterator[Name]:
    """Yield the names of objects, of their labels and pods, and those that controllers will make."""
    for root in objects:
        yield from _names(root, pods_of(root))
    for job_set in job_sets.find(objects):
        yield from _hosts(job_set)


def _names(root: MappingNode, found_pods: Sequence[Pod[MappingNode]]) -> Iterator[Name]:
    if name := name_of(root):
        form, becomes = _KINDS.get(kind_of(root), (SUBDOMAIN, ""))
        yield Name(name, f"the name of {root.text('kind')}{f', {becomes}' if becomes else ''}", form)
        yield from _derived(root, name)
    yield from _labels(root)
    for pod in found_pods:
        for what, holders in (("a container", pod.containers), ("a volume", pod.volumes)):
            yield from (Name(own, what, LABEL) for holder in holders if (own := holder.scalar("name")))
        for container in pod.containers:
            yield from (Name(port, "a port", _PORT) for port in names(container.get("ports")))
        for field, form in _FIELDS.items():
            value = pod.spec.get(field)
            if isinstance(value, Scalar) and value.value:
                yield Name(value, field, form)


def _labels(root: MappingNode) -> Iterator[Name]:
    if kind_of(root) == kinds.CUSTOM:
        return
    for node in walk(root):
        labels = node.mapping("metadata", "labels") if isinstance(node, MappingNode) else None
        for entry in labels.entries if labels else ():
            if isinstance(entry.value, Scalar):
                yield Name(entry.value, f"label {entry.name}", LABEL_VALUE)


def _derived(root: MappingNode, name: Scalar) -> Iterator[Name]:
    """Yield what controllers make of an object's name."""
    spec = root.mapping("spec")
    if spec is None:
        return
    if is_kind(root, kinds.BATCH, "Job") and spec.text("completionMode") == "Indexed":
        yield Name(name, "the host of a pod", LABEL, ("-", (spec.get("completions"), spec.get("parallelism"))))
    elif is_kind(root, kinds.BATCH, "CronJob") or is_kind(root, kinds.ARGO, "CronWorkflow"):
        yield Name(name, f"a {root.text('kind').removeprefix('Cron')} of it", _SHORT, ("-9999999999",))
    elif is_kind(root, kinds.JOBSET, "JobSet") and (subdomain := spec.scalar("network", "subdomain")):
        yield Name(subdomain, "the Service of a JobSet", _HOST)
    elif is_kind(root, kinds.APPS, "StatefulSet"):
        yield Name(name, "the host of a pod", LABEL, ("-", (spec.get("replicas"),)))
        yield Name(name, "the label of a revision", LABEL, ("-9999999999",))
    elif is_kind(root, kinds.LWS, "LeaderWorkerSet"):
        # Each group has a StatefulSet of its workers; the name of their host is no longer than this.
        yield Name(name, "the label of a revision", LABEL, ("-", (spec.get("replicas"),), "-9999999999"))
    elif is_kind(root, kinds.KUBEFLOW, "MPIJob"):
        count = spec.find("mpiReplicaSpecs", "Worker", "replicas")
        yield Name(name, "the host of a worker", _HOST, ("-worker-", (count,)))
        yield Name(name, "the launcher's Job", _HOST, ("-launcher",))
    elif is_kind(root, kinds.KUBEFLOW, "TFJob", "PyTorchJob"):
        replicas = spec.mapping("tfReplicaSpecs") or spec.mapping("pytorchReplicaSpecs")
        for entry in replicas.entries if replicas else ():
            count = entry.value.get("replicas") if isinstance(entry.value, MappingNode) else None
            yield Name(name, "the Service of a replica", _HOST, (f"-{entry.name.lower()}-", (count,)))


def _hosts(job_set: JobSet) -> Iterator[Name]:
    """Yield the names that are made of that of a JobSet."""
    for pods in job_set.pod_sets:
        after = (f"-{pods.role}-", (pods.replicas,), "-", pods.sizes)
        yield Name(job_set.name, "the host of a pod", LABEL, after)
        if pods.has_checked_names:
            yield Name(job_set.name, "a pod", LABEL, (*after, "-abcde"))
