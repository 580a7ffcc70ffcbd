"""Faults of objects and pods that no schema reports: two of one name, mounts without volumes, names of nodes."""

from collections.abc import Iterator

from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.kubernetes.kinds import RBAC, kind_of, name_of, names
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.using.kustomize import selector
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_MOUNTS = ("volumeMounts", "volumeDevices")
#: What volumes for a container are called that GKE adds.
_INJECTED = "gke-gcsfuse-"
#: Labels that only one node, or one type of machine, has.
_PINNING = (
    *("kubernetes.io/hostname", "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
    "alpha.eksctl.io/instance-id",
)


def check(subject: Subject) -> Iterator[Finding]:
    """Find what is wrong with a package's pods."""
    for build in subject.builds:
        if build.complete:  # otherwise kustomize may tell them apart
            yield from _objects(build)
        yield from _namespaces(build, subject)
    for root in subject.objects:
        yield from _namespace(root)
        found_pods = subject.pods_of(root)
        yield from _volumes(found_pods)
        for pod in found_pods:
            yield from _nodes(pod, subject)
            volumes = pod.volume_names
            for container in pod.containers:
                yield from _unknown_volumes(container, volumes)


def _objects(build: Build) -> Iterator[Finding]:
    by_identity: dict[selector.Identity, Scalar] = {}
    for root in build.objects:
        name = name_of(root)
        if name is None:
            continue
        first = by_identity.setdefault(selector.identity(root), name)
        if first is not name:
            hint = f"also at {first.place}"
            message = f"{root.text('kind')} {name.value!r} occurs twice"
            is_open = not build.kustomizations and first.source is not name.source
            message += " in this folder: of the two, the one applied last counts" if is_open else ""
            yield breach("duplicate-name", name, message, hint, severity="warning" if is_open else "error")


def _namespaces(build: Build, subject: Subject) -> Iterator[Finding]:
    """Find an object that says its namespace, where the others go where users apply them."""
    if build.is_loose or any(root.get("namespace") for root in build.kustomizations):
        return
    own = [root for root in build.objects if root.mapping("metadata") and kind_of(root)[0] != RBAC]
    own = [root for root in own if not is_cluster_scoped(root.text("apiVersion"), root.text("kind"))]
    namespaces = [entry for root in own if (meta := root.mapping("metadata")) and (entry := meta.entry("namespace"))]
    are_few = 2 * len(namespaces) <= len(own)
    rest = "others are where users apply them" if are_few else "kubectl apply -n refuses it in another"
    for entry in namespaces if are_few or subject.is_own else ():
        if isinstance(entry.value, Scalar) and entry.value.value and not subject.changed_by(entry.value):
            message = f"this object is in namespace {entry.value.value}, and {rest}"
            hint = "remove it: users name it, or namespace: in package.yaml does"
            yield breach("own-namespace", entry, message, hint)


def _namespace(root: MappingNode) -> Iterator[Finding]:
    """Find a namespace of what is in none."""
    metadata = root.get("metadata")
    namespace = metadata.entry("namespace") if metadata else None
    if namespace and is_cluster_scoped(root.text("apiVersion"), root.text("kind")):
        message = f"a {root.text('kind')} is in no namespace: the field has no effect"
        yield breach("namespace-without-effect", namespace, message, "remove it")


def _nodes(pod: Pod[MappingNode], subject: Subject) -> Iterator[Finding]:
    """Find a pod for one node, or for one type of machine, that no setter changes."""
    pinning = [entry for entry in entries(pod.spec.get("nodeSelector")) if entry.name in _PINNING]
    for entry in [*pinning, *filter(None, [pod.spec.entry("nodeName")])]:
        if isinstance(entry.value, Scalar) and not subject.changed_by(entry.value) and "{{" not in entry.text:
            message = f"the pod runs on {entry.text} alone, which another cluster does not have"
            yield breach("pinned-to-nodes", entry, message, "bind a setter, or use an affinity")


def _volumes(found_pods: list[Pod[MappingNode]]) -> Iterator[Finding]:
    """Find volumes that no container mounts; those of a Workflow are for all of its pods."""
    for node in {id(node): node for pod in found_pods for _, node in pod.chain}.values():
        declared = names(node.get("volumes"))
        mounted = {name.value for name in _mounts(node)} if declared else set()
        for name in declared:
            if name.value not in mounted and not name.value.startswith(_INJECTED):
                message = f"no container mounts volume {name.value!r}"
                yield breach("volume-never-mounted", name, message, "mount it, or remove it")


def _mounts(node: MappingNode) -> list[Scalar]:
    """Return the names that all mounts and devices in a node refer to."""
    lists = (entry.value for inner in walk(node) for entry in entries(inner) if entry.name in _MOUNTS)
    return [name for listed in lists for name in names(listed)]


def _unknown_volumes(container: MappingNode, volumes: frozenset[str]) -> Iterator[Finding]:
    label = f"container {name!r}" if (name := container.text("name")) else "the container"
    for mount in (mount for key in _MOUNTS for mount in names(container.get(key))):
        if mount.value not in volumes:
            message = f"{label} mounts {mount.value!r}, which is not a volume of its pod"
            hint = f"the volumes are {', '.join(sorted(volumes))}" if volumes else "the pod has no volumes"
            yield breach("mount-without-volume", mount, message, hint)
