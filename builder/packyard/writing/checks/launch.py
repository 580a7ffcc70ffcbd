"""Faults of how many processes a run starts: mpirun, torchrun and variables against the pods that there are.

slotsPerWorker: 1                            with -np 2 there is a process for each slot of two workers, until
Worker: {replicas: 2 # {"$openapi":"N"}}     somebody sets N: then -np has to be N as well, or to be left out
command: [mpirun, -np, "2", …]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from math import prod

from packyard.core.kubernetes import mpi_jobs
from packyard.core.kubernetes.kinds import BATCH, JOBSET, KUBEFLOW, LWS, RAY, TRAINER, is_kind, kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import entries, mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.writing.checks import ray, variables
from packyard.writing.checks.explanation import Severity
from packyard.writing.checks.finding import Finding, breach, within
from packyard.writing.checks.parsed import Parsed

_PROCESSES = re.compile(r"(?:^|\s)(?:mpirun|mpiexec|horovodrun)\s(?:.*?\s)?--?(?:np|n)[\s=]+(\S+)", re.DOTALL)
_FLAGS = ("-np", "--np", "-n", "--n")
_NODES = re.compile(r"--nnodes[=\s]+['\"]?(\d+)\b")
_SHELL_VARIABLE = re.compile(r"\$(?!\([A-Za-z_]\w*\))")
_REFERENCE = re.compile(r"\$[({]?([A-Za-z_][A-Za-z0-9_]*)[)}]?\Z")
_COUNTS = ("WORLD_SIZE", "NNODES", "NUM_WORKERS", "NUM_NODES")
_STARTED = ("--nproc-per-node",)
#: Flags whose numbers, multiplied, are how many GPUs of its pod a program uses; and words that spread vLLM over pods.
_BY_GPU = {
    "vllm": ("--tensor-parallel-size", "-tp", "--pipeline-parallel-size", "-pp", "--data-parallel-size", "-dp"),
    "torchrun": _STARTED,
    "torch.distributed.run": _STARTED,
}
_SPREAD = {"--nnodes", "--node-rank", "ray", "--data-parallel-address", "--data-parallel-size-local"}
_FRAMEWORK = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs"}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that is written in a package, and the setters that change it."""

    value: int
    setters: frozenset[str]


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find numbers of processes that do not agree with the pods and devices that there are."""
    for root in parsed.objects:
        if is_kind(root, KUBEFLOW, "MPIJob"):
            yield from _mpi_job(root, parsed)
        elif counted := _pods(root, parsed):
            for container in parsed.containers_of(root):
                yield from _told(container, counted, _at_once(root, parsed), parsed)
        for container in parsed.containers_of(root):
            yield from _tf_config(container, parsed)
            yield from _used_gpus(container, root, parsed)
            yield from _visible(container, parsed)
        yield from _per_node(root, parsed)


def _mpi_job(root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a launcher that starts more or fewer processes than its workers have slots, now or after a set."""
    spec = root.mapping("spec")
    worker = spec.mapping("mpiReplicaSpecs", "Worker") if spec else None
    if spec is None or worker is None:
        return
    slots = _number(spec.get("slotsPerWorker"), parsed, 1)
    for pod in parsed.pods_of(root):
        if "Worker" in pod.path:
            yield from _slots(spec.get("slotsPerWorker"), slots, pod, parsed)
    workers = _number(worker.get("replicas"), parsed, 1)
    if not slots or not workers:
        return
    hosts = workers.value + (spec.text("runLauncherAsWorker") == "true")
    for container in mpi_jobs.launchers(root):
        place, count = _processes(container, parsed)
        if place is None or count is None:
            continue
        there = slots.value * hosts
        if count.value != there:
            what = "more" if count.value > there else "fewer"
            message = f"mpirun starts {count.value} processes, {what} than the {there} slots of {hosts} workers"
            severity: Severity = "error" if count.value > there else "warning"
            hint = "leave the number out: mpirun fills the slots"
            yield breach("process-count", place, message, hint, severity=severity)
        elif count.setters != workers.setters | slots.setters:
            changed = ", ".join(sorted(workers.setters | slots.setters)) or "nothing"
            message = f"the number of slots changes with {changed}, and the number of processes does not"
            yield breach("process-count", place, message, "leave it out: mpirun fills the slots")


def _slots(node: Node | None, slots: _Number | None, worker: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    """Find slots that are not as many as the GPUs of a worker."""
    for container in worker.containers:
        count = _gpus(container, parsed)
        if isinstance(node, Scalar) and slots and count and count.value and count.value != slots.value:
            message = f"a worker has {count.value} GPUs and {slots.value} slots, which are the processes on it"
            yield breach("slots-and-gpus", node, message, "give it as many slots as GPUs")


def _gpus(container: MappingNode, parsed: Parsed) -> _Number | None:
    """Return how many GPUs a container has; 0 where it does not ask for any as a resource."""
    return _of_limits(container.find("resources", "limits"), parsed)


def _of_limits(limits: Node | None, parsed: Parsed) -> _Number | None:
    return _number(next((entry.value for entry in entries(limits) if entry.name.endswith("/gpu")), None), parsed, 0)


def _used_gpus(container: MappingNode, root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find vLLM and torchrun where they are told to use more or fewer GPUs than their pod, or their group, has."""
    words = " ".join(word.value for word in variables.words(container))
    programs = [name for name in _BY_GPU if re.search(rf"\b{re.escape(name)}\b", words)]
    program = programs[0] if programs else ""
    is_told = bool(_SPREAD & set(re.split(r"[\s=]+", words)))  # to use other pods, too
    is_spread = program == "vllm" and (is_told or kind_of(root)[0] in (LWS, RAY))
    there = _of_group(root, parsed) if is_spread else _gpus(container, parsed)
    places = list(_flags(container, _BY_GPU[program], parsed)) if program else []
    counts = [number for _, number in places if number]
    wanted = prod(number.value for number in counts)
    if not counts or not there or not there.value or wanted == there.value:
        return
    is_set = any(number.setters for number in counts)
    what = "its group has" if is_spread else "the container has"
    # Processes of torchrun can do without a GPU: an option that adds GPUs leaves it to its setter how many.
    if wanted > there.value and (program == "vllm" or not there.setters or is_set):
        message = f"{program} needs {wanted} GPUs, one for each of its processes, and {what} {there.value}"
        yield breach("process-count", places[0][0], message, "make both the same number")
    elif (
        wanted < there.value
        and bool(there.setters) == is_set
        and is_told is is_spread
        and len(programs) == 1
        and len(counts) == len(places)
        and not _SHELL_VARIABLE.search(words)  # which may hold more flags
    ):
        message = f"{program} uses {wanted} GPUs, one for each of its processes, and {what} {there.value}"
        yield breach("process-count", places[0][0], message, "make both the same number", severity="warning")


def _of_group(root: MappingNode, parsed: Parsed) -> _Number | None:
    """Return how many GPUs a group of a LeaderWorkerSet has; None of what may span other pods."""
    template = root.mapping("spec", "leaderWorkerTemplate") if is_kind(root, LWS, "LeaderWorkerSet") else None
    size = _number(template.get("size"), parsed, 1) if template else None
    by_role = {pod.role: [_gpus(each, parsed) for each in pod.containers] for pod in parsed.pods_of(root)}
    worker = by_role.get("worker", [])
    every = [*by_role.get("leader", worker), *((size.value - 1) * worker if size else [])]
    numbers = [number for number in every if number]
    if size is None or len(numbers) < len(every):
        return None
    return _Number(sum(number.value for number in numbers), size.setters.union(*(number.setters for number in numbers)))


def _visible(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a program that is told of GPUs that its container does not have."""
    there, node = _gpus(container, parsed), variables.find(container, parsed).value("CUDA_VISIBLE_DEVICES")
    numbers = node.value.split(",") if node and re.fullmatch(r"\d+(,\d+)*", node.value) else []
    if node and numbers and there and there.value and max(map(int, numbers)) >= there.value:
        message = f"CUDA_VISIBLE_DEVICES is {node.value}, and the container has {there.value} GPUs, from 0 on"
        yield breach("process-count", node, message, "remove it: a container sees its own GPUs alone")


def _per_node(root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a number of processes for each node, or of GPUs for Ray, that is not that of the GPUs there."""
    spec, pods = root.mapping("spec"), parsed.pods_of(root)
    places: list[tuple[Node | None, list[_Number | None]]] = []
    if spec and is_kind(root, KUBEFLOW, "PyTorchJob"):
        places = [(spec.get("nprocPerNode"), [_gpus(each, parsed) for each in parsed.containers_of(root)])]
    elif spec and is_kind(root, TRAINER, "TrainJob") and (trainer := spec.mapping("trainer")):
        held = _of_limits(trainer.find("resourcesPerNode", "limits"), parsed)
        places = [(trainer.get("numProcPerNode"), [held])]
    elif spec and is_kind(root, TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"):
        told = spec.find("mlPolicy", "torch", "numProcPerNode")
        places = [(told, [_gpus(each, parsed) for each in parsed.containers_of(root)])]
    elif cluster := ray.cluster_of(root):
        groups = [cluster.mapping("headGroupSpec"), *mappings(cluster.get("workerGroupSpecs"))]
        for group in filter(None, groups):
            inside = [pod for pod in pods if any(mapping is group for _, mapping in pod.chain)]
            held_by = [_gpus(each, parsed) for pod in inside for each in pod.containers]
            places.append((group.find("rayStartParams", "num-gpus"), held_by))
    for node, counts in places:
        number, most = _number(node, parsed), max((count.value for count in counts if count), default=0)
        if node and number and most and number.value > most:
            message = f"{number.value} GPUs are to be used on each node of the run, and its pod has {most}"
            yield breach("process-count", node, message, "make both the same number")


def _flags(container: MappingNode, names: Sequence[str], parsed: Parsed) -> Iterator[tuple[Scalar, _Number | None]]:
    """Yield the numbers that a command has behind flags, each with its word; None where nobody knows it."""
    words = list(variables.words(container))
    spelled = "|".join(f"--{name[2:].replace('-', '[-_]')}" if name.startswith("--") else name for name in names)
    pattern = re.compile(rf"(?:^|\s)(?:{spelled})(?:[=\s]+['\"]?([^\s'\"]+)|\Z)")
    for word, following in zip_longest(words, words[1:]):
        for match in pattern.finditer(word.value):
            place = word if match[1] else following
            if place:
                yield place, _resolved(place, match[1] or place.value, container, parsed)


def _processes(container: MappingNode, parsed: Parsed) -> tuple[Scalar | None, _Number | None]:
    """Return the word with the number of processes that a launcher's command has, and the number."""
    texts = list(variables.words(container))
    if texts and mpi_jobs.starts_ranks([text.value for text in texts]):
        for flag, word in pairwise(texts):
            if flag.value in _FLAGS:
                return word, _resolved(word, word.value, container, parsed)
    for text in texts:
        if match := _PROCESSES.search(text.value):
            return text, _resolved(text, match[1], container, parsed)
    return None, None


def _resolved(word: Scalar, text: str, container: MappingNode, parsed: Parsed) -> _Number | None:
    """Return a number that is written out, or is the value of a variable."""
    named = _REFERENCE.match(text)
    value = variables.find(container, parsed).value(named[1]) if named else None
    if named:
        return _number(value, parsed) if value else None
    return _Number(int(text), parsed.changed_by(word)) if text.isdecimal() else None


def _number(node: Node | None, parsed: Parsed, default: int | None = None) -> _Number | None:
    if node is None:
        return None if default is None else _Number(default, frozenset())
    if isinstance(node, Scalar) and node.value.isdecimal():
        return _Number(int(node.value), parsed.changed_by(node))
    return None


def _pods(root: MappingNode, parsed: Parsed) -> _Number | None:
    """Return how many pods of one run an object starts, where a program may be told."""
    spec = root.mapping("spec")
    if spec and is_kind(root, BATCH, "Job") and spec.text("completionMode") == "Indexed":
        return _number(spec.get("completions"), parsed)
    if spec and is_kind(root, JOBSET, "JobSet"):
        inner = _only_job(spec, parsed)
        return _number(inner.get("completions"), parsed) if inner else None
    field = _FRAMEWORK.get(root.text("kind"), "") if is_kind(root, KUBEFLOW, *_FRAMEWORK) else ""
    replicas = root.mapping("spec", field)
    if replicas is None:
        return None
    roles = (entry.value for entry in replicas.entries if isinstance(entry.value, MappingNode))
    counts = [_number(role.get("replicas"), parsed, 1) for role in roles]
    numbers = [count for count in counts if count]
    if len(numbers) < len(counts):
        return None
    return _Number(sum(count.value for count in numbers), frozenset().union(*(count.setters for count in numbers)))


def _only_job(spec: MappingNode, parsed: Parsed) -> MappingNode | None:
    """Return the spec of the one Job that a JobSet makes."""
    jobs = mappings(spec.get("replicatedJobs"))
    is_alone = (
        len(jobs) == 1 and jobs[0].text("replicas", "1") == "1" and not parsed.changed_by(jobs[0].get("replicas"))
    )
    return jobs[0].mapping("template", "spec") if is_alone else None


def _at_once(root: MappingNode, parsed: Parsed) -> int | None:
    """Return how many pods of a Job run at the same time."""
    job = root.mapping("spec")
    if job and is_kind(root, JOBSET, "JobSet"):
        job = _only_job(job, parsed)
    elif not is_kind(root, BATCH, "Job"):
        return None
    number = _number(job.get("parallelism"), parsed, 1) if job else None
    return number.value if number else None


def _told(container: MappingNode, pods: _Number, at_once: int | None, parsed: Parsed) -> Iterator[Finding]:
    """Find a program that is told another number of pods than there are, or than run at once, now or after a set."""
    words = ((word, _NODES.search(word.value)) for word in variables.words(container))
    statements = [(word, int(match[1]), match.group()) for word, match in words if match]
    counts = [each.scalar("value") for each in mappings(container.get("env")) if each.text("name") in _COUNTS]
    statements += [(value, int(value.value), value.value) for value in counts if value and value.value.isdecimal()]
    for node, number, text in statements:
        if number != pods.value:
            message = f"the program is told of {number} pods, and there are {pods.value}"
            yield breach("process-count", within(node, text), message, "make both the same number")
        elif at_once is not None and at_once < number:
            message = f"the program waits for {number} pods, and {at_once} run at once"
            yield breach("process-count", within(node, text), message, f"parallelism: {number}")
        elif parsed.changed_by(node) != pods.setters:
            changed = ", ".join(sorted(pods.setters ^ parsed.changed_by(node)))
            message = f"the number of pods and the number that the program is told part with {changed}"
            yield breach("process-count", node, message, "give both the same setter comment")


def _tf_config(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a TF_CONFIG that TensorFlow refuses: no JSON, an index that is text, a task that the cluster lacks."""
    node = variables.find(container, parsed).value("TF_CONFIG") if container.get("env") else None
    if node is None or not node.value or variables.is_filled_in(node.value):
        return
    try:
        config = json.loads(node.value)
        task, cluster = config.get("task", {}), config.get("cluster", {})
        index, role = task.get("index", 0), task.get("type", "")
        fault = "the index of its task is a text" if isinstance(index, str) else ""
        if not fault and role and cluster and index >= len(cluster.get(role, ())):
            fault = f"its cluster has no {role} {index}"
    except (ValueError, AttributeError, TypeError, RecursionError):
        fault = "it is not what TensorFlow reads"
    if fault:
        yield breach("tf-config", node, f"TF_CONFIG cannot be used: {fault}", "write the index as a number")
