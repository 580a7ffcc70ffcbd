"""Names that parts of one object have for each other: jobs of a JobSet, replicas, groups of Ray, containers.

replicatedJobs:
- name: driver
- name: workers
  dependsOn: [{name: drivr, status: Ready}]     which JobSet refuses, and the API server's schemas admit
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import JOBSET, KUBEFLOW, TRAINER, is_kind, kind_of, names
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.writing.checks import keys, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.ray import cluster_of
from packyard.writing.checks.workload import twice

_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
#: Where a TrainJob names jobs of its runtime, and containers of these.
_OVERRIDES = ("podSpecOverrides", "podTemplateOverrides")
#: The types of replicas that an operator knows, by the kind and the field that has them.
_REPLICAS = {
    "MPIJob": ("mpiReplicaSpecs", ("Launcher", "Worker")),
    "PyTorchJob": ("pytorchReplicaSpecs", ("Master", "Worker")),
    "TFJob": ("tfReplicaSpecs", ("Chief", "Evaluator", "Master", "PS", "Worker")),
    "XGBoostJob": ("xgbReplicaSpecs", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", ("Worker",)),
}
#: What replicas may say of a restart; an MPIJob's have the first two.
_RESTARTS = ("Never", "OnFailure", "Always", "ExitCode")
_RENDEZVOUS = ("c10d", "etcd", "etcd-v2")
#: What a job of a runtime is for, by a label: the trainer of a TrainJob changes the first.
_STEP, _STEPS = "trainer.kubeflow.org/trainjob-ancestor-step", ("trainer", "dataset-initializer", "model-initializer")
#: The container that each replica of a kind has to have.
_CONTAINER = {"PyTorchJob": "pytorch", "TFJob": "tensorflow", "XGBoostJob": "xgboost", "JAXJob": "jax"}


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find names that nothing has, and those that two have."""
    runtimes = {kind: parsed.named(TRAINER, kind) for kind in _RUNTIMES}
    for root in parsed.objects:
        spec = _job_set_of(root)
        yield from _job_set(spec) if spec else ()
        if is_kind(root, TRAINER, *_RUNTIMES):
            for job in mappings(spec.get("replicatedJobs")) if spec else ():
                yield from _word(job.find("template", "metadata", "labels", _STEP), _STEP, _STEPS)
        if is_kind(root, TRAINER, "TrainJob"):
            yield from _overrides(root, runtimes)
        if kind_of(root)[0] == KUBEFLOW and kind_of(root)[1] in _REPLICAS:
            yield from _replicas(root, *_REPLICAS[kind_of(root)[1]])
        cluster = cluster_of(root)
        groups = mappings(cluster.get("workerGroupSpecs")) if cluster else []
        yield from twice("group", list(filter(None, (group.scalar("groupName") for group in groups))))
        for holder, entry in parsed.entries_of(root, "podFailurePolicy"):
            yield from _failures(holder, entry.value)


def _job_set_of(root: MappingNode) -> MappingNode | None:
    """Return what describes a JobSet in it, or in the runtime that makes some."""
    if is_kind(root, JOBSET, "JobSet"):
        return root.mapping("spec")
    return root.mapping("spec", "template", "spec") if is_kind(root, TRAINER, *_RUNTIMES) else None


def _job_set(spec: MappingNode) -> Iterator[Finding]:
    jobs = mappings(spec.get("replicatedJobs"))
    called = names(spec.get("replicatedJobs"))
    yield from twice("replicatedJob", called)
    job_names = [each.value for each in called]
    for number, job in enumerate(jobs):
        for waited in names(job.get("dependsOn")):
            if waited.value in job_names[number:] and waited.value not in job_names[:number]:
                is_itself = waited.value == job.text("name")
                what = "itself" if is_itself else f"{waited.value}, which does not stand before it"
                hint = "" if is_itself else f"move {waited.value} above it"
                yield breach("no-such-part", waited, f"{job.text('name')} waits for {what}", hint)
            else:
                yield from _unknown("replicatedJob", waited, job_names)
    policies = [each for each in (spec.mapping("successPolicy"), spec.mapping("failurePolicy")) if each]
    policies += [rule for each in policies for rule in mappings(each.get("rules"))]
    named = [name for each in policies for name in scalars(each.get("targetReplicatedJobs"))]
    for name in (*named, *filter(None, [spec.scalar("coordinator", "replicatedJob")])):
        yield from _unknown("replicatedJob", name, job_names)


def _count(holder: MappingNode, field: str) -> int:
    """Return a number that a field has, or 1; what is filled in later is more than any."""
    text = holder.text(field, "1")
    return int(text) if text.isdecimal() else sys.maxsize


def _overrides(root: MappingNode, runtimes: Mapping[str, Mapping[str, MappingNode]]) -> Iterator[Finding]:
    """Find jobs and containers of a runtime of the package that it does not have."""
    reference = root.mapping("spec", "runtimeRef")
    named = runtimes.get(reference.text("kind", _RUNTIMES[1]), {}) if reference else {}
    runtime = named.get(reference.text("name")) if reference else None
    spec = _job_set_of(runtime) if runtime else None
    jobs = {job.text("name"): job for job in mappings(spec.get("replicatedJobs"))} if spec else {}
    for override in (each for key in _OVERRIDES for each in mappings(root.find("spec", key)) if jobs):
        targets = names(override.get("targetJobs"))
        for name in targets:
            yield from _unknown("replicatedJob of the runtime", name, jobs)
        having = [job for name, job in jobs.items() if not targets or name in {each.value for each in targets}]
        containers = {
            name for job in having for name in _containers(job.mapping("template", "spec", "template", "spec"))
        }
        pod = override.mapping("spec") or override
        for name in (name for key in ("initContainers", "containers") for name in names(pod.get(key))):
            yield from _unknown("container of the runtime", name, containers) if containers else ()


def _replicas(root: MappingNode, field: str, types: Iterable[str]) -> Iterator[Finding]:
    replicas, wanted = entries(root.find("spec", field)), _CONTAINER.get(root.text("kind"), "")
    yield from _policy(root, replicas)
    for entry in replicas:
        if isinstance(entry.key, Scalar):
            yield from _unknown("type of replicas", entry.key, types)
        called = names(entry.value.find("template", "spec", "containers"))
        if wanted and called and wanted not in {each.value for each in called}:
            lacks = f"no container of {entry.name} is called {wanted!r}"
            message = f"{lacks}, and the operator refuses the {root.text('kind')}"
            yield breach("no-such-part", called[0], message, f"call the one that trains {wanted}")


def _policy(root: MappingNode, replicas: Sequence[Entry]) -> Iterator[Finding]:
    """Find numbers and words that the operator refuses, or waits for in vain."""
    kind, counts = root.text("kind"), 0
    for entry in replicas:
        role = entry.value
        if not isinstance(role, MappingNode):
            continue
        counts += _count(role, "replicas")
        first = entry.name in ("Launcher", "Master", "Chief") and role.get("replicas")
        if first and _count(role, "replicas") not in (1, sys.maxsize):
            message = f"a {kind} has one {entry.name}, not {role.text('replicas')}"
            yield breach("wrong-value", first, message, "replicas: 1")
        words = _RESTARTS[:2] if kind == "MPIJob" else _RESTARTS
        yield from _word(role.get("restartPolicy"), "restartPolicy", words)
    yield from _word(root.find("spec", "runPolicy", "cleanPodPolicy"), "cleanPodPolicy", ("None", "Running", "All"))
    yield from _word(root.find("spec", "elasticPolicy", "rdzvBackend"), "rdzvBackend", _RENDEZVOUS)
    least = root.scalar("spec", "runPolicy", "schedulingPolicy", "minAvailable")
    if least and least.value.isdecimal() and int(least.value) > counts:
        message = f"minAvailable is {least.value}, and there are {counts} pods: they wait for ever"
        yield breach("wrong-value", least, message, f"minAvailable: {counts}")


def _word(node: Node | None, field: str, words: Sequence[str]) -> Iterator[Finding]:
    if isinstance(node, Scalar) and not variables.is_filled_in(node.value):
        yield from keys.word(node, field, words)


def _failures(job: MappingNode, policy: Node) -> Iterator[Finding]:
    """Find containers of a Job's rules that its pods do not have."""
    containers = _containers(job.mapping("template", "spec"))
    for rule in mappings(policy.get("rules")):
        name = rule.scalar("onExitCodes", "containerName")
        if name and containers:
            yield from _unknown("container", name, containers)


def _unknown(what: str, name: Scalar, candidates: Iterable[str]) -> Iterator[Finding]:
    if name.value and name.value not in candidates and not variables.is_filled_in(name.value):
        hint = suggest(name.value, candidates) or f"there is {', '.join(sorted(set(candidates) - {''}))}"
        yield breach("no-such-part", name, f"there is no {what} {name.value!r}", hint)


def _containers(pod: MappingNode | None) -> list[str]:
    keys = ("initContainers", "containers")
    return [name.value for key in keys for name in names(pod.get(key))] if pod else []
