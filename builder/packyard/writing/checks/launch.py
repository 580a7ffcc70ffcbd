"""How many processes mpirun starts, against the slots of the workers.

slotsPerWorker: 1                            with -np 2 there is a process for each slot of two workers, until
Worker: {replicas: 2 # {"$openapi":"N"}}     somebody sets N: then -np has to be N as well, or to be left out
command: [mpirun, -np, "2", …]
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from packyard.core.kubernetes.kinds import KUBEFLOW, is_kind
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.values import flag
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_PROCESSES = re.compile(r"(?s)(?:^|[\s/])(?:mpirun|mpiexec|orterun|horovodrun)\s(?:.*?\s)?--?(?:np|n)[\s=]+(\S+)")
_REFERENCE = re.compile(r"\$[({]?([A-Za-z_][A-Za-z0-9_]*)[)}]?\Z")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that is written in a package, and the setters that change it."""

    value: int
    setters: frozenset[str]


def check(subject: Subject) -> Iterator[Finding]:
    """Find launchers that start more or fewer processes than their workers have slots, now or after a set."""
    for root in subject.objects:
        if is_kind(root, KUBEFLOW, "MPIJob"):
            yield from _mpi_job(root, subject)


def _mpi_job(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    worker = root.mapping("spec", "mpiReplicaSpecs", "Worker")
    if worker is None:
        return
    slots = _number(root.find("spec", "slotsPerWorker"), subject, "1")
    workers = _number(worker.get("replicas"), subject, "1")
    if not slots or not workers:
        return
    hosts = workers.value + (flag(root.find("spec", "runLauncherAsWorker")) or 0)
    launchers = [pod for pod in subject.pods_of(root) if "Launcher" in pod.path]
    for container in (container for pod in launchers for container in mappings(pod.spec.get("containers"))):
        place, count = _processes(container, subject)
        if place is None or count is None:
            continue
        processes = slots.value * hosts
        if count.value != processes:
            what = "more" if count.value > processes else "fewer"
            message = f"mpirun starts {count.value} processes, {what} than the {processes} slots of {hosts} workers"
            hint = "leave the number out: mpirun fills the slots"
            yield breach("process-count", place, message, hint, severity="error" if what == "more" else "warning")
        elif count.setters != workers.setters | slots.setters:
            changed = ", ".join(sorted(workers.setters | slots.setters)) or "nothing"
            message = f"the number of slots changes with {changed}, and the number of processes does not"
            yield breach("process-count", place, message, "leave it out: mpirun fills the slots")


def _processes(container: MappingNode, subject: Subject) -> tuple[Scalar | None, _Number | None]:
    """Return the word with the number of processes that a launcher's command has, and the number."""
    texts = list(variables.words(container))
    match = _PROCESSES.search(" ".join(text.value for text in texts))
    if match is None:
        return None, None
    ends = accumulate(len(text.value) + 1 for text in texts)
    word = next(text for text, end in zip(texts, ends, strict=True) if match.start(1) < end)
    return word, _resolved(word, match[1], container, subject)


def _resolved(word: Scalar, text: str, container: MappingNode, subject: Subject) -> _Number | None:
    """Return a number that is written out, or is the value of a variable."""
    if named := _REFERENCE.match(text):
        return _number(variables.find(container, subject).values.get(named[1]), subject)
    return _Number(int(text), subject.changed_by(word)) if text.isdecimal() else None


def _number(node: Node | None, subject: Subject, default: str = "") -> _Number | None:
    text = node.value if isinstance(node, Scalar) else default if node is None else ""
    return _Number(int(text), subject.changed_by(node)) if text.isdecimal() else None
