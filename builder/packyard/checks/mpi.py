"""Faults of MPIJobs that their definition admits: what ranks do not see, and a word that the operator does not know.

The operator of v2beta1 starts ranks through ssh, whose sessions have nothing of a pod's environment: what ``mpirun``
is to pass on, ``-x NAME`` says. Older versions of the kind start them by ``kubectl exec``, which keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from packyard.checks import pod as pods
from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.errors import suggest
from packyard.text.node import Entry, Mapping, Scalar, Sequence

_VERSION = "kubeflow.org/v2beta1"
_MPIRUN = ("mpirun", "mpiexec", "orterun")
_POLICIES = ("AtStartup", "WaitForWorkersReady")
_EXPORT = ("-x", "--x")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find variables that the launcher has and its ranks lack, and launchers that wait for nobody by a slip."""
    jobs = [root for root in parsed.objects if root.text("kind") == "MPIJob" and root.text("apiVersion") == _VERSION]
    seen: set[int] = set()
    for root in jobs:
        yield from _policy(root)
        launcher = root.mapping("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")
        for container in pods.mappings(launcher.get("containers")) if launcher else ():
            words = [word for field in ("command", "args") for word in _words(container, field)]
            if not any(PurePosixPath(word).name in _MPIRUN for word in words):
                continue
            passed = {name.partition("=")[0] for flag, name in pairwise(words) if flag in _EXPORT}
            for entry in _variables(container, parsed):
                if entry.name not in passed and id(entry) not in seen:
                    seen.add(id(entry))
                    message = f"{entry.name} reaches no rank: mpirun starts them through ssh, which passes nothing on"
                    hint = f"add -x {entry.name} to the command of the launcher"
                    yield error("not-exported", entry.key.source, entry.start, message, hint)


def _policy(root: Mapping) -> Iterator[Finding]:
    spec = root.mapping("spec")
    policy = spec.get("launcherCreationPolicy") if spec else None
    if isinstance(policy, Scalar) and policy.value not in _POLICIES:
        message = f"launcherCreationPolicy is {policy.value!r}, which the operator takes for AtStartup"
        hint = suggest(policy.value, _POLICIES) or f"admitted are {' and '.join(_POLICIES)}"
        yield error("launcher-policy", policy.source, policy.start, message, hint)


def _variables(container: Mapping, parsed: Parsed) -> Iterator[Entry]:
    """Yield the entries of the ConfigMaps from which a container has its environment."""
    references = (each.mapping("configMapRef") for each in pods.mappings(container.get("envFrom")))
    names = {reference.text("name") for reference in references if reference}
    for root in parsed.objects:
        metadata, data = root.mapping("metadata"), root.mapping("data")
        if root.text("kind") == "ConfigMap" and metadata and data and metadata.text("name") in names:
            yield from data.entries


def _words(container: Mapping, field: str) -> list[str]:
    """Return the words of a command, those of a shell's script one by one."""
    listed = container.get(field)
    items = [item.value for item in listed.items] if isinstance(listed, Sequence) else []
    return [word for item in items if isinstance(item, Scalar) for word in item.value.split()]
