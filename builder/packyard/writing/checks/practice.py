"""Good practice that no schema checks: labels, no token, no deadlines, no root.

Most findings are warnings: a cluster accepts such objects, and their users have the trouble.
"""

import re
from collections.abc import Container, Iterable, Iterator

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.kubernetes.kinds import CORE, LASTING, RBAC, is_kind, kind_of, names
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings, walk
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.core.yaml.values import flag
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_LABELS = ("app.kubernetes.io/name", "app.kubernetes.io/instance")
_SHELL = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?")
_LIMITS = ("activeDeadlineSeconds", "ttlSecondsAfterFinished")


def check(subject: Subject) -> Iterator[Finding]:
    """Find what is not good practice.

    Accounts with rights need their token, those that mount none by themselves have none.
    """
    accounts = subject.named(CORE, "ServiceAccount").items()
    silent = {name for name, root in accounts if flag(root.get("automountServiceAccountToken")) is False}
    bindings = (root for root in subject.objects if is_kind(root, RBAC, "RoleBinding", "ClusterRoleBinding"))
    trusted = {name.value for root in bindings for name in names(root.get("subjects"))}
    for root in subject.objects:
        unlabelled = list(_labelled(root, root, f"the {root.text('kind')}"))
        yield from unlabelled
        yield from _unexpanded(variables.stated(root, subject))
        yield from _deadlines(root, subject)
        yield from _unmeasured(root, subject)
        for pod in subject.pods_of(root):
            # Of a pod without metadata that is said at the same place as of its object.
            if pod.template and pod.template is not root and not (unlabelled and not pod.template.entry("metadata")):
                yield from _labelled(pod.template, root, "the pod")
            # Pods of Argo report through the API server, and who makes those of an unknown kind gives them an account.
            is_known = pods.knows(kind_of(root)) or pod.spec.get("serviceAccountName")
            if is_known and not pod.is_argo and pod.spec.text("serviceAccountName", default="default") not in trusted:
                yield from _token(pod.spec, silent)
            for container in pod.containers:
                yield from _user(container, pod)


def _labelled(node: MappingNode, root: MappingNode, what: str) -> Iterator[Finding]:
    """Find an object or a pod with none of the labels that tell which run it belongs to."""
    labels = node.mapping("metadata", "labels")
    if (
        root.get("metadata")
        and kind_of(root) not in LASTING
        and not is_cluster_scoped(root.text("apiVersion"), root.text("kind"))  # of no run
        and not any(labels and labels.get(name) for name in _LABELS)
    ):
        place = _metadata(node, root.entry("metadata"))
        message = f"{what} has no label {' or '.join(_LABELS)}: the objects of one run cannot be told from others"
        yield breach("no-labels", place or node, message, f"add {_LABELS[0]} to its labels")


def _metadata(node: MappingNode, entry: Entry | None) -> Entry | None:
    """Return the metadata of a node, unless it lacks them or an overlay brought them: then what else tells of it."""
    own = node.entry("metadata")
    return own if own and (entry is None or own.key.source is entry.key.source) else entry


def _unexpanded(stated: Iterable[tuple[str, Node | None]]) -> Iterator[Finding]:
    """Find variables of the shell where no shell reads them; a text of several lines is a script, or another file."""
    for name, value in stated:
        match = _SHELL.search(value.value) if isinstance(value, Scalar) and "\n" not in value.value else None
        if match and value is not None:
            message = f"{name} keeps the text {match.group()}: Kubernetes does not expand it"
            hint = "Kubernetes expands $(NAME) in env, and nothing in a ConfigMap"
            yield breach("unexpanded-variable", value, message, hint)


def _deadlines(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    for entry in (entry for node in walk(root) for entry in entries(node)) if subject.is_own else ():
        if entry.name in _LIMITS and isinstance(entry.value, Scalar) and not subject.changed_by(entry.value):
            message = f"{entry.name} is {entry.value.value}, and no setter changes or removes it"
            yield breach("fixed-deadline", entry, message, "remove it, or bind a setter")


def _unmeasured(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find an autoscaler by the share of a resource that a container does not request."""
    target = root.mapping("spec", "scaleTargetRef")
    if target is None or not is_kind(root, "autoscaling", "HorizontalPodAutoscaler"):
        return
    scaled = subject.named(target.text("apiVersion").rpartition("/")[0], target.text("kind")).get(target.text("name"))
    scaled_pods = subject.pods_of(scaled) if scaled else []
    containers = [container for pod in scaled_pods for container in mappings(pod.spec.get("containers"))]
    for metric in mappings(root.find("spec", "metrics")):
        name = metric.scalar("resource", "name")
        for container in containers if name and metric.find("resource", "target", "averageUtilization") else ():
            if name and not any(container.find("resources", held, name.value) for held in ("requests", "limits")):
                message = f"container {container.text('name')!r} requests no {name.value}, of which this is a share"
                yield breach("unmeasured-metric", name, f"{message}: the autoscaler never scales", "add the request")


def _token(spec: MappingNode, silent: Container[str]) -> Iterator[Finding]:
    """Find a token of an account without rights, unless the pod or its account mounts none."""
    own = flag(spec.get("automountServiceAccountToken"))
    if own is False or (own is None and spec.text("serviceAccountName", default="default") in silent):
        return
    place = spec.entry("serviceAccountName")
    message = "a token for the API server is mounted into the pod, and its account has no rights that need one"
    yield breach("token-mounted", place or spec, message, "automountServiceAccountToken: false")


def _user(container: MappingNode, pod: Pod[MappingNode]) -> Iterator[Finding]:
    """Find a container that may run as root."""
    label = f"container {name!r}" if (name := container.text("name")) else "the container"
    contexts = [context for holder in (container, pod) if (context := holder.get("securityContext"))]
    user, promise = (
        next((own for context in contexts if (own := context.scalar(field)) and own.value), None)
        for field in ("runAsUser", "runAsNonRoot")
    )
    is_confined = bool(flag(promise))
    if is_confined and user and user.value == "0":
        message = f"{label} is user 0, which runAsNonRoot refuses: it never starts"
        yield breach("runs-as-root", user, message, "another number, such as 1000", severity="error")
    elif not is_confined:
        place = user if user and user.value == "0" else container
        message = f"{label} {'runs' if place is user else 'may run'} as root"
        yield breach("runs-as-root", place, message, "runAsNonRoot: true")
