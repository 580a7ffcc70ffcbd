"""Faults of selectors: whether they select pods of the package, and no others, and ports, now and after each set."""

from collections.abc import Iterable, Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.groups import BUILT_IN_GROUPS
from packyard.core.kubernetes.kinds import (
    APPS,
    CORE,
    INFERENCE,
    KUEUE,
    NETWORKING,
    POLICY,
    called,
    is_kind,
    kind_of,
    name_of,
    namespace_of,
    of,
)
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.using.kustomize.selector import identity
from packyard.writing.checks.explanation import Severity
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Kinds that find their pods by a selector that somebody writes.
_SELECTING = of(APPS, "Deployment", "DaemonSet", "ReplicaSet", "StatefulSet")
_INSTANCE = "app.kubernetes.io/instance"
#: Kinds that are about pods, and the labels that say which.
_CHOOSING = {
    (CORE, "Service"): ("spec", "selector"),
    (POLICY, "PodDisruptionBudget"): ("spec", "selector", "matchLabels"),
    (NETWORKING, "NetworkPolicy"): ("spec", "podSelector", "matchLabels"),
    (INFERENCE, "InferencePool"): ("spec", "selector", "matchLabels"),
}
#: Who gives pods labels of their own, by the end of the labels' prefix.
_CONTROLLERS = ("kubernetes.io", "k8s.io", "kubeflow.org", "argoproj.io")
#: Groups whose operators make no pods of what they read.
_WITHOUT_PODS = (
    *("gateway.networking.k8s.io", "networking.istio.io", "security.istio.io"),
    *("cert-manager.io", "external-secrets.io", KUEUE, "snapshot.storage.k8s.io", "kyverno.io"),
    *(INFERENCE, "inference.networking.x-k8s.io", "keda.sh"),
)
_MONITORING = of("monitoring.coreos.com", "ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe")


def check(subject: Subject) -> Iterator[Finding]:
    """Find Services that select no pod of the package, or that a set parts from their pods."""
    labels = [own_labels for pod in subject.all_pods if (own_labels := labels_of(pod))]
    operated = any(_is_operated(root, subject) for root in subject.objects)
    for root in subject.objects:
        selector = root.mapping(*_CHOOSING.get(kind_of(root), ("",)))
        if selector and selector.entries and not any(map(_is_given, selector.entries)):
            is_judged = subject.complete and not operated and bool(labels or not subject.is_loose)
            yield from _selected(selector, labels, subject, is_judged=is_judged)
            if is_kind(root, CORE, "Service"):
                yield from _ports(root, selector, subject)
        yield from _workload(root, subject)
        if is_kind(root, APPS, "Deployment", "StatefulSet"):
            yield from _unready(root, subject)
    for pod in subject.all_pods:
        yield from _spread(pod)
    yield from _overlapping(subject)
    yield from _instances(subject)


def _workload(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find a workload whose selector its own pods do not match, now or after a set: the API server rejects it."""
    for entry in entries(root.find("spec", "selector", "matchLabels")) if kind_of(root) in _SELECTING else ():
        label = root.scalar("spec", "template", "metadata", "labels", entry.name)
        if isinstance(entry.value, Scalar) and (not label or label.value != entry.text):
            has = f"has {label.value!r}" if label else "does not have"
            message = f"the selector wants label {entry.name}: {entry.text}, which the pod {has}"
            yield breach("selects-nothing", entry, message, "write the same in both", severity="error")
        elif label:
            yield from parted(entry.value, [label], f"label {entry.name} of the pod", subject)


def parted(
    node: Node, labels: Iterable[Node | None], what: str, subject: Subject, this: str = "this one"
) -> Iterator[Finding]:
    """Find a text that a set changes, and with it none of the others that it has to be like, or the other way round."""
    here, changed = subject.changed_by(node), [subject.changed_by(label) for label in labels]
    if here not in changed:
        message = f"{what} changes with {_listed(changed[0])}, and {this} with {_listed(here)}"
        yield breach("reference-left-behind", node, message, "give both the same comment")


def _spread(pod: Pod[MappingNode]) -> Iterator[Finding]:
    """Find pods that are spread by labels which they do not have: the constraint then counts others."""
    labels = labels_of(pod)
    for constraint in mappings(pod.get("topologySpreadConstraints")):
        selector = constraint.mapping("labelSelector", "matchLabels")
        if labels and selector and not any(map(_is_given, selector.entries)) and not _matches(labels, selector):
            message = "the pod does not have these labels, so that it is spread as if it were not there"
            yield breach("selects-nothing", selector, message, "name labels of the pod")


def _unready(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find pods behind a Service that get requests before they can answer."""
    services = (item.mapping("spec", "selector") for item in subject.objects if is_kind(item, CORE, "Service"))
    served = [selector for selector in services if selector and selector.entries]
    for pod in subject.pods_of(root):
        listed = mappings(pod.spec.get("containers"))
        is_asked = any(container.get("readinessProbe") for container in listed)
        if listed and not is_asked and any(selected(selector, [pod]) for selector in served):
            message = "a Service sends requests to the pod as soon as it runs: nothing asks whether it is ready"
            yield breach("no-readiness-probe", listed[0], message, "add a readinessProbe")


def _overlapping(subject: Subject) -> Iterator[Finding]:
    """Find a workload whose selector matches the pods of another one: Services and budgets cannot tell them apart."""
    workloads = [
        (root, selector, template)
        for root in subject.objects
        if kind_of(root) in _SELECTING
        and (selector := root.mapping("spec", "selector", "matchLabels"))
        and (template := root.mapping("spec", "template", "metadata", "labels"))
    ]
    having: dict[tuple[str, str], list[tuple[MappingNode, MappingNode]]] = {}
    for root, _, labels in workloads:
        for entry in labels.entries:
            having.setdefault((entry.name, labels.text(entry.name)), []).append((root, labels))
    for root, selector, _ in workloads if subject.complete else ():
        first = selector.entries[0].name if selector.entries else ""
        for item, labels in having.get((first, selector.text(first)), ()):
            is_beside = identity(item) != identity(root) and namespace_of(item) == namespace_of(root)
            if is_beside and _matches(labels, selector):
                what = f"{item.text('kind')} {called(item)}"
                message = f"the selector also matches the pods of {what}: a Service mixes them"
                yield breach("selector-overlap", selector, message, "give each its own label")
                break


def _ports(service: MappingNode, selector: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find ports of a Service that no container of its pods declares, or that a set parts from the container's."""
    containers = [container for pod in selected(selector, subject.all_pods) for container in pod.containers]
    declared = [port for container in containers for port in mappings(container.get("ports"))]
    for port in mappings(service.find("spec", "ports")) if containers else ():
        target = port.get("targetPort") or port.get("port")
        if not isinstance(target, Scalar) or not target.value:
            continue
        fields = [(item, field) for item in declared for field in ("name", "containerPort")]
        matching = [item.get(field) for item, field in fields if item.text(field) == target.value]
        is_name = not target.value.isdecimal()  # a number is reached whether or not it is declared
        if not matching and subject.complete and (declared or is_name):
            names = {item.text("name") or item.text("containerPort") for item in declared} - {""}
            message = f"no container of the selected pods declares port {target.value}"
            message += ", so that the Service reaches nobody" if is_name else ""
            yield no_port(target, names, message, severity="error" if is_name else "warning")
        elif matching:
            yield from parted(target, matching, "the port of the container", subject)


def no_port(port: Scalar, known: set[str], message: str, *, severity: Severity = "warning") -> Finding:
    """Return the finding of a port that is none of those that are known."""
    ports = f"there is {', '.join(sorted(known))}" if known else "there is no port by a name"
    return breach("no-such-port", port, message, suggest(port.value, known) or ports, severity=severity)


def _is_operated(root: MappingNode, subject: Subject) -> bool:
    """Say whether an operator may make pods of an object, with labels that nobody here knows."""
    is_known = kind_of(root)[0] in (*BUILT_IN_GROUPS, *_WITHOUT_PODS) or kind_of(root) in _MONITORING
    return not is_known and not subject.pods_of(root)


def labels_of(pod: Pod[MappingNode]) -> MappingNode | None:
    """Return the labels of a pod."""
    return pod.template.mapping("metadata", "labels") if pod.template else None


def selected(selector: MappingNode | None, found_pods: Iterable[Pod[MappingNode]]) -> list[Pod[MappingNode]]:
    """Return the pods whose labels a selector wants; all where it names none."""
    if selector is None:
        return list(found_pods)
    return [pod for pod in found_pods if (labels := labels_of(pod)) and _matches(labels, selector)]


def _matches(labels: MappingNode, selector: MappingNode) -> bool:
    wanted = ((entry.name, entry.value) for entry in selector.entries)
    return all(isinstance(value, Scalar) and labels.text(name) == value.value for name, value in wanted)


def _selected(
    selector: MappingNode, labels: list[MappingNode], subject: Subject, *, is_judged: bool
) -> Iterator[Finding]:
    """Find a selector of no pod of the package, or that a set parts from the pods."""
    matching = [own for own in labels if _matches(own, selector)]
    if not matching and is_judged:
        message = "no pod of the package has the labels of this selector"
        yield breach("selects-nothing", selector, message, "compare it with the pod's labels")
    for entry in selector.entries if matching else ():
        values = [own.get(entry.name) for own in matching]
        yield from parted(entry.value, values, f"label {entry.name} of the pods", subject)


def _is_given(entry: Entry) -> bool:
    """Say whether a controller gives pods this label."""
    prefix = entry.name.rpartition("/")[0]
    return entry.name == "job-name" or (prefix.endswith(_CONTROLLERS) and prefix != "app.kubernetes.io")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _instances(subject: Subject) -> Iterator[Finding]:
    """Find the label of an instance that a set leaves behind: the objects of two runs then have the same.

    An object whose name no set changes is one for all runs, and so is its label.
    """
    renamed = [root for root in subject.objects if subject.changed_by(name_of(root))]
    holders = [item for root in renamed for item in (root, *(pod.template for pod in subject.pods_of(root))) if item]
    nodes = [label for holder in holders if (label := holder.scalar("metadata", "labels", _INSTANCE))]
    setters = frozenset[str]().union(*map(subject.changed_by, nodes))
    naming = frozenset[str]().union(*(subject.changed_by(name_of(root)) for root in renamed))
    for node in nodes if setters or naming else ():
        if not subject.changed_by(node):
            what = f"{_INSTANCE} of other objects" if setters else "the name of the object"
            message = f"{what} changes with {_listed(setters or naming)}, and this label does not"
            hint = "give both the same comment"
            yield breach("reference-left-behind", node, message, hint, severity="error" if setters else "warning")
