"""Faults of MPIJobs that their definition admits: what ranks do not see, and a word that the operator does not know.

The operator of v2beta1 starts processes through ssh, whose sessions have nothing of a pod's environment; older versions
of the kind start them by ``kubectl exec``, which keeps it. mpirun hands on what it is told to:

    OMPI_MCA_mca_base_env_list: HOME;OUTPUT_DIR      up to the first name that has no value, or
    command: [mpirun, -x, HOME, -x, OUTPUT_DIR]      but not both: then it ends

A variable that the launcher's own words hold, ``--steps=$(STEPS)``, reaches the program with them, or is its shell's.
Those of Open MPI itself, ``OMPI_…``, are handed on anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.errors import suggest
from packyard.kubernetes.kinds import CORE, is_kind
from packyard.yaml.document import mappings, walk
from packyard.yaml.node import Entry, MappingNode, Node, Scalar, SequenceNode

_POLICIES = ("AtStartup", "WaitForWorkersReady")
_VERSION = "kubeflow.org/v2beta1"
_POD = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")
_MPIRUN = ("mpirun", "mpiexec", "orterun")
_EXPORT = ("-x", "--x")
_LIST = "OMPI_MCA_mca_base_env_list"
_OWN = ("OMPI_", "PMIX_", "PRTE_")
_USED = re.compile(r"\$[({]?([A-Za-z_][A-Za-z0-9_]*)")
#: What images bring themselves.
_OF_IMAGES = ("PATH", "LD_LIBRARY_PATH", "HOME")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find variables that the launcher has and its ranks lack, and launchers that wait for nobody by a slip."""
    for root in parsed.objects:
        if root.text("kind") == "MPIJob" and root.text("apiVersion") == _VERSION:
            yield from _policy(root)
            pod = root.mapping(*_POD)
            for container in mappings(pod.get("containers")) if pod else ():
                yield from _launcher(container, parsed)


def _policy(root: MappingNode) -> Iterator[Finding]:
    spec = root.mapping("spec")
    policy = spec.get("launcherCreationPolicy") if spec else None
    if isinstance(policy, Scalar) and policy.value not in _POLICIES:
        message = f"launcherCreationPolicy is {policy.value!r}, which the operator takes for AtStartup"
        hint = suggest(policy.value, _POLICIES) or f"admitted are {' and '.join(_POLICIES)}"
        yield error("launcher-policy", policy.source, policy.start, message, hint)


@dataclass(slots=True)
class _Variables:
    """The variables of a container: where each is named, and its value; ``complete`` where there are no others."""

    named: dict[str, tuple[Node, int]] = field(default_factory=dict)
    values: dict[str, Node | None] = field(default_factory=dict)
    complete: bool = True

    def add(self, name: str, place: tuple[Node, int], value: Node | None) -> None:
        self.named.setdefault(name, place)
        self.values[name] = value


def _launcher(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find what a container that runs mpirun has and does not hand on, and what it should hand on and has not."""
    words = [word for name in ("command", "args") for text in _texts(container, name) for word in text.split()]
    if not any(PurePosixPath(word).name in _MPIRUN for word in words):
        return
    variables = _variables(container, parsed)
    passed = [name.partition("=")[0] for flag, name in pairwise(words) if flag in _EXPORT]
    listed = variables.values.get(_LIST)
    if isinstance(listed, Scalar):
        if passed:
            message = f"mpirun refuses -x {passed[0]} together with {_LIST}"
            yield error("exported-twice", container.source, container.start, message, "name all variables in the list")
        yield from _valueless(listed, variables)
        passed += [each.partition("=")[0] for each in listed.value.split(";")]
    used = {name for node in walk(container) if isinstance(node, Scalar) for name in _USED.findall(node.value)}
    for name, (place, start) in variables.named.items():
        if name not in passed and name not in used and not name.startswith(_OWN):
            message = f"{name} reaches no rank: mpirun starts them through ssh, which passes nothing on"
            hint = f"add it to {_LIST}" if listed else f"add -x {name} to the command of the launcher"
            yield error("not-exported", place.source, start, message, hint)


def _valueless(listed: Scalar, variables: _Variables) -> Iterator[Finding]:
    """Find names in the list that have no value: mpirun warns of the first, and hands on none of those behind it."""
    for name in listed.value.split(";"):
        known = {*variables.named, *_OF_IMAGES, ""}
        if "=" not in name and name not in known and variables.complete:
            message = f"{name} is no variable of the launcher, and mpirun hands on none of those behind it"
            yield error("exported-nothing", listed.source, listed.start, message, "take it out of the list")


def _variables(container: MappingNode, parsed: Parsed) -> _Variables:
    found = _Variables()
    for each in mappings(container.get("envFrom")):
        reference = each.mapping("configMapRef")
        entries = _data(reference.text("name"), parsed) if reference else None
        found.complete = found.complete and entries is not None
        for entry in entries or ():
            found.add(entry.name, (entry.key, entry.start), entry.value)
    for each in mappings(container.get("env")):
        name = each.get("name")
        if isinstance(name, Scalar):
            found.add(name.value, (name, name.start), each.get("value"))
    return found


def _data(name: str, parsed: Parsed) -> list[Entry] | None:
    """Return what a ConfigMap of the package holds; None where there is none of that name."""
    for root in parsed.objects:
        metadata, data = root.mapping("metadata"), root.mapping("data")
        if is_kind(root, CORE, "ConfigMap") and metadata and metadata.text("name") == name:
            return data.entries if data else []
    return None


def _texts(container: MappingNode, name: str) -> list[str]:
    listed = container.get(name)
    items = [item.value for item in listed.items] if isinstance(listed, SequenceNode) else []
    return [item.value for item in items if isinstance(item, Scalar)]
