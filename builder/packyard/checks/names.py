"""Names that Kubernetes refuses, or that what is derived from them makes too long: not only as shipped, but at their
longest, by the limits of the setters that they are made of.

    MPIJob NAME    ->  pods NAME-worker-9, each a host name: at most 63 characters
    CronJob NAME   ->  Jobs NAME-28394857
    JobSet NAME    ->  pods NAME-worker-0-9-x7k2p, whose whole name may have no more, as its webhook says
    TrainJob NAME  ->  JobSet NAME
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.checks import rules
from packyard.checks.finding import Finding, error, warning
from packyard.checks.longest import Length, limited, longest
from packyard.checks.parsed import Parsed
from packyard.dataclass import replace
from packyard.errors import InputError
from packyard.kubernetes import job_sets, pods
from packyard.kubernetes.job_sets import JobSet
from packyard.kubernetes.kinds import (
    APPS,
    ARGO,
    BATCH,
    CORE,
    CUSTOM,
    JOBSET,
    KUBEFLOW,
    RBAC,
    TRAINER,
    Kind,
    is_kind,
    kind_of,
    names,
    of,
)
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.yaml.document import walk
from packyard.yaml.node import MappingNode, Node, Scalar

#: The index that is counted on where a number has no maximum.
_ANY_INDEX = 9999


@dataclass(frozen=True, slots=True)
class _Form:
    """What a name has to be."""

    pattern: re.Pattern[str]
    description: str
    most: int


_LABEL = _Form(re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z"), "lower case letters, digits and dashes", 63)
_HOST = _Form(re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z"), "a letter, then lower case letters, digits and dashes", 63)
_SUBDOMAIN = _Form(
    re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z"),
    "lower case letters, digits, dashes and dots",
    253,
)
_SHORT = _Form(_SUBDOMAIN.pattern, _SUBDOMAIN.description, 63)
_VALUE = _Form(
    re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?\Z"), "letters, digits, dashes, underscores and dots", 63
)
_SEGMENT = _Form(re.compile(r"(?!\.\.?\Z)[^/%]+\Z"), "anything but slashes and percent signs", 253)
_PORT = _Form(re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*\Z"), "lower case letters, digits and dashes", 15)

#: Kinds whose own name is no subdomain, and why: what it becomes.
_KINDS: Mapping[Kind, tuple[_Form, str]] = {
    (CORE, "Namespace"): (_LABEL, ""),
    (CORE, "Service"): (_HOST, ""),
    (BATCH, "Job"): (_SHORT, "a label of its pods"),
    (JOBSET, "JobSet"): (_HOST, "with which the hosts of its pods begin"),
    (TRAINER, "TrainJob"): (_HOST, "which its JobSet has as well"),
    (ARGO, "Workflow"): (_SHORT, "a label of its pods"),
    **dict.fromkeys(of(RBAC, ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")), (_SEGMENT, "")),
}


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that has to have a form: that of ``node``, with ``after`` behind it where something is derived from it."""

    node: Scalar
    what: str
    form: _Form
    after: str = ""

    @property
    def left(self) -> int:
        """How long the text of the node may be."""
        return self.form.most - len(self.after)


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find names that are refused, or may be, once they or what they are derived from are set."""
    definitions = limited(parsed.krmfile.definitions, rules.sound(parsed)) if parsed.krmfile else Definitions()
    bound = {id(each.node): definitions.resolve(each.reference) for each in parsed.bound}
    found: dict[tuple[str, str], Finding] = {}
    for name in sorted(_all(parsed, _Counts(bound)), key=lambda name: name.left):
        if not parsed.complete and "$(" in name.node.value:  # which kustomize replaces
            continue
        definition = bound.get(id(name.node))
        called = definition.name if definition else name.node.value
        try:
            for finding in _faults(name, definition, definitions):
                found.setdefault((finding.rule, called), finding)  # the strictest speaks for all
        except InputError:  # a broken definition, of which the checks of setters tell
            continue
    yield from found.values()


def _faults(name: _Name, definition: Setter | Substitution | None, definitions: Definitions) -> Iterator[Finding]:
    node, form, what = name.node, name.form, f"{name.what} {f'NAME{name.after} ' if name.after else ''}"
    for text in _texts(node, definition, definitions):
        if not form.pattern.match(text + name.after):
            message = f"{text + name.after!r} is no name for {name.what}"
            yield error("no-name", node.source, node.start, message, form.description)
            break
    length = longest(definition, definitions) if definition else Length(len(node.value))
    if length.most > name.left:
        after = f" + {len(name.after)}" if name.after else ""
        shown = f" ({length}{after})" if definition else ""
        message = f"{what}may have {form.most} characters, and this may make it {length.most + len(name.after)}{shown}"
        hint = "lower the maxLength of a setter" if definition else "shorten it"
        yield error("name-too-long", node.source, node.start, message, hint)
    elif length.unlimited and form.most < _SUBDOMAIN.most:
        names = ", ".join(dict.fromkeys(length.unlimited))
        message = f"{what}may have {form.most} characters, and nothing limits {names}"
        hint = f"give it a maxLength: {name.left - length.most} characters are left"
        yield warning("name-without-limit", node.source, node.start, message, hint)


def _texts(node: Scalar, definition: Setter | Substitution | None, definitions: Definitions) -> Iterator[str]:
    """Yield a name as it is shipped, unless it waits for a value, and with every example."""
    if definition is None:
        yield node.value
        return
    reached = [definitions.setters[name] for name in definitions.setters_of(definition)]
    if not any(setter.must_be_set for setter in reached):
        yield node.value
    examples = {setter.name: replace(setter, value=setter.example) for setter in reached if setter.example is not None}
    if len(examples) < sum(setter.must_be_set for setter in reached) or not examples:
        return
    changed = definitions.with_setters(examples)
    yield changed.setters[definition.name].text if isinstance(definition, Setter) else changed.expand(definition)


class _Counts:
    """The highest index of something, as a row of nines."""

    def __init__(self, bound: Mapping[int, Setter | Substitution | None]) -> None:
        self._bound = bound

    def index(self, *fields: Node | None) -> str:
        """Return it for the first field that is there; without any there is one, of index 0."""
        field = next((field for field in fields if isinstance(field, Scalar)), None)
        setter = self._bound.get(id(field))
        most = setter.schema.get("maximum") if isinstance(setter, Setter) else None
        if field is None:
            last = 0
        elif setter is None and field.value.isdecimal():
            last = int(field.value) - 1
        else:
            last = int(most) - 1 if isinstance(most, int | float) else _ANY_INDEX
        return "9" * len(str(max(last, 0)))


def _all(parsed: Parsed, counts: _Counts) -> Iterator[_Name]:
    for root in parsed.objects:
        yield from _names(root, counts)
    for job_set in job_sets.find(parsed.objects):
        yield from _hosts(job_set, counts)


def _names(root: MappingNode, counts: _Counts) -> Iterator[_Name]:
    metadata = root.mapping("metadata")
    name = metadata.get("name") if metadata else None
    if isinstance(name, Scalar):
        form, becomes = _KINDS.get(kind_of(root), (_SUBDOMAIN, ""))
        yield _Name(name, f"the name of {root.text('kind')}{f', {becomes}' if becomes else ''}", form)
        yield from _derived(root, name, counts)
    yield from _labels(root)
    for pod in pods.find(root):
        for container in pod.containers:
            yield from (
                _Name(each, "a container", _LABEL) for each in [container.get("name")] if isinstance(each, Scalar)
            )
            yield from (_Name(port, "a port", _PORT) for port in names(container.get("ports")))
        volumes = (volume.get("name") for volume in pod.volumes)
        yield from (_Name(name, "a volume", _LABEL) for name in volumes if isinstance(name, Scalar))
        for field in ("hostname", "subdomain"):
            each = pod.spec.get(field)
            if isinstance(each, Scalar) and each.value:
                yield _Name(each, field, _LABEL)


def _labels(root: MappingNode) -> Iterator[_Name]:
    if kind_of(root) == CUSTOM:
        return
    for node in walk(root):
        labels = node.mapping("metadata", "labels") if isinstance(node, MappingNode) else None
        for entry in labels.entries if labels else ():
            if isinstance(entry.value, Scalar):
                yield _Name(entry.value, f"label {entry.name}", _VALUE)


def _derived(root: MappingNode, name: Scalar, counts: _Counts) -> Iterator[_Name]:
    """Yield what controllers make of an object's name."""
    spec = root.mapping("spec")
    if spec is None:
        return
    if is_kind(root, BATCH, "Job") and spec.text("completionMode") == "Indexed":
        index = counts.index(spec.get("completions"), spec.get("parallelism"))
        yield _Name(name, "the host of a pod", _LABEL, f"-{index}")
    elif is_kind(root, BATCH, "CronJob") or is_kind(root, ARGO, "CronWorkflow"):
        yield _Name(name, f"a {root.text('kind').removeprefix('Cron')} of it", _SHORT, "-9999999999")
    elif is_kind(root, APPS, "StatefulSet"):
        yield _Name(name, "the host of a pod", _LABEL, f"-{counts.index(spec.get('replicas'))}")
        yield _Name(name, "the label of a revision", _LABEL, "-9999999999")
    elif is_kind(root, KUBEFLOW, "MPIJob"):
        workers = spec.mapping("mpiReplicaSpecs", "Worker")
        index = counts.index(workers.get("replicas") if workers else None)
        yield _Name(name, "the host of a worker", _HOST, f"-worker-{index}")
        yield _Name(name, "the launcher's Job", _HOST, "-launcher")
    elif is_kind(root, KUBEFLOW, "TFJob", "PyTorchJob"):
        replicas = spec.mapping("tfReplicaSpecs") or spec.mapping("pytorchReplicaSpecs")
        for entry in replicas.entries if replicas else ():
            count = entry.value.get("replicas") if isinstance(entry.value, MappingNode) else None
            yield _Name(name, "the Service of a replica", _HOST, f"-{entry.name.lower()}-{counts.index(count)}")


def _hosts(job_set: JobSet, counts: _Counts) -> Iterator[_Name]:
    """Yield what becomes of the name of a JobSet, whoever makes it."""
    for each in job_set.pod_sets:
        after = f"-{each.role}-{counts.index(each.replicas)}-{counts.index(*each.sizes)}"
        yield _Name(job_set.name, "the host of a pod", _LABEL, after)
        if each.has_checked_names:
            yield _Name(job_set.name, "a pod", _LABEL, f"{after}-abcde")
