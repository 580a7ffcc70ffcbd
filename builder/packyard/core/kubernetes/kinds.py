"""What kind an object is, by the group of its apiVersion and its kind, as many groups have a Service; and its name.

apiVersion: batch/v1                                         ->  batch, Job
kind: Job
apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1       ->  serviceusage.cnrm.cloud.google.com, Service
kind: Service
"""

from packyard.core.kubernetes.lenient import Object, text
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar

#: Group and kind; the group of Kubernetes' oldest kinds is empty.
Kind = tuple[str, str]

CORE, APPS, BATCH, RBAC = "", "apps", "batch", "rbac.authorization.k8s.io"
ARGO, KUBEFLOW, TRAINER, JOBSET = "argoproj.io", "kubeflow.org", "trainer.kubeflow.org", "jobset.x-k8s.io"
LWS, RAY, NETWORKING, POLICY = "leaderworkerset.x-k8s.io", "ray.io", "networking.k8s.io", "policy"
KUEUE, INFERENCE = "kueue.x-k8s.io", "inference.networking.k8s.io"
CUSTOM = ("apiextensions.k8s.io", "CustomResourceDefinition")


def of(group: str, *kinds: str) -> list[Kind]:
    """Return kinds of one group."""
    return [(group, kind) for kind in kinds]


#: Kinds whose fields are data, which may look like fields of other kinds.
OPAQUE = (*of(CORE, "ConfigMap", "Secret"), CUSTOM)
#: The annotation of an object that only serves composing.
LOCAL = "config.kubernetes.io/local-config"
#: Kinds that outlive runs and may be shared by them.
LASTING = of(CORE, "PersistentVolumeClaim", "PersistentVolume", "Namespace")
#: Workloads that go on until they are deleted.
ENDLESS = {*of(APPS, "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), *of(LWS, "LeaderWorkerSet")}
#: Kinds whose work begins with the object, and comes to an end. What their pods are made of stays as it was: of a Job
#: the server refuses to change it, of an MPIJob it takes the change, and nothing follows from it. What such pods read
#: at their start, data of a ConfigMap, is not read again either.
RUN_ONCE = {
    *of(CORE, "Pod"),
    *of(BATCH, "Job"),
    *of(JOBSET, "JobSet"),
    *of(TRAINER, "TrainJob"),
    *of(ARGO, "Workflow"),
    *of(RAY, "RayJob"),
    *of(KUBEFLOW, "MPIJob", "PyTorchJob", "TFJob"),
}


def kind_of(root: Object | MappingNode) -> Kind:
    """Return the group and the kind of an object, of plain values or of nodes."""
    return group_of(text(root.get("apiVersion"))), text(root.get("kind"))


def group_of(version: str) -> str:
    """Return the group of an apiVersion."""
    return version.rpartition("/")[0]


def is_kind(root: MappingNode, group: str, *kinds: str) -> bool:
    """Say whether an object is of one of these kinds of a group, in whatever version."""
    return kind_of(root) in ((group, kind) for kind in kinds)


def is_local(root: Node | None) -> bool:
    """Say whether kustomize leaves out an object for what its annotation `LOCAL` says: any text but false."""
    value = root.scalar("metadata", "annotations", LOCAL) if root else None
    return value is not None and value.value != "false"


def namespace_of(root: MappingNode) -> str:
    """Return the namespace that an object says, or an empty text."""
    return root.text("metadata", "namespace")


def name_of(root: MappingNode) -> Scalar | None:
    """Return the name of an object."""
    return root.scalar("metadata", "name")


def called(root: MappingNode) -> str:
    """Return the name of an object as text; an empty one where it has none."""
    return root.text("metadata", "name")


def names(node: Node | None) -> list[Scalar]:
    """Return the ``name`` of each mapping in a list."""
    return [name for item in mappings(node) if (name := item.scalar("name"))]
