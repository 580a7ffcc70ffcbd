"""Faults of MPIJobs that their definition admits: variables that do not reach the ranks, and an unknown policy.

A variable that the launcher's own words hold, ``--steps=$(STEPS)``, reaches the program with them, or is its shell's;
so is one of the script that the shell runs. Of a script that nobody sees here, nothing is said.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from packyard.core.errors import suggest
from packyard.core.kubernetes import mpi_jobs
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.variables import Variables

_SHELLS = ("sh", "bash", "dash", "ash")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find variables that the launcher has and its ranks do not, and policies that the operator does not know."""
    for root in parsed.objects:
        if mpi_jobs.is_job(root):
            yield from _policy(root)
            for container in mpi_jobs.launchers(root):
                yield from _launcher(container, parsed)


def _policy(root: MappingNode) -> Iterator[Finding]:
    policy = root.find("spec", "launcherCreationPolicy")
    if isinstance(policy, Scalar) and policy.value not in mpi_jobs.POLICIES:
        message = f"launcherCreationPolicy is {policy.value!r}, which the operator treats as AtStartup"
        hint = suggest(policy.value, mpi_jobs.POLICIES) or f"it must be {' or '.join(mpi_jobs.POLICIES)}"
        yield breach("launcher-policy", policy, message, hint)


def _launcher(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find variables that a container with mpirun does not hand on, and names in its list without a value."""
    words = [word for text in variables.words(container) for word in text.value.split()]
    if not mpi_jobs.starts_ranks(words):
        return
    own = variables.find(container, parsed)
    passed = mpi_jobs.exported(words)
    listed = own.values.get(mpi_jobs.LIST)
    if isinstance(listed, Scalar):
        if passed:
            message = f"mpirun refuses -x {passed[0]} together with {mpi_jobs.LIST}"
            yield breach("exported-twice", container, message, "name all variables in the list")
        yield from _valueless(listed, own)
        passed += [each.partition("=")[0] for each in listed.value.split(";")]
    script = _script(words)
    if script and script not in parsed.programs:
        return
    texts = [node.value for node in walk(container) if isinstance(node, Scalar)]
    texts += [parsed.programs[script].decode("utf-8", "replace")] if script else []
    used = {name for text in texts for name in mpi_jobs.used(text)}
    for name, place in own.named.items():
        if name not in passed and name not in used and not mpi_jobs.is_own(name):
            message = f"{name} does not reach the ranks: mpirun starts them through ssh, which passes no variables on"
            hint = f"add it to {mpi_jobs.LIST}" if listed else f"add -x {name} to the command of the launcher"
            yield breach("not-exported", place, message, hint)


def _script(words: Sequence[str]) -> str:
    """Return the name of the file that a launcher's shell runs, nothing where it runs a text or is no shell."""
    first = next((word for word in words[1:] if not word.startswith("-")), "")
    is_file = posixpath.basename(words[0]) in _SHELLS and first.startswith("/")
    return posixpath.basename(first) if is_file else ""


def _valueless(listed: Scalar, own: Variables) -> Iterator[Finding]:
    """Find names in the list that have no value: mpirun warns of the first, and hands on none of those after it."""
    for name in listed.value.split(";"):
        names = {*own.named, *mpi_jobs.OF_IMAGES, ""}
        if "=" not in name and name not in names and own.complete:
            message = f"{name} is not a variable of the launcher, and mpirun ignores the names after it"
            yield breach("exported-nothing", listed, message, "remove it from the list")
