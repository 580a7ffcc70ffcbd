"""Faults of MPIJobs that their definition admits: what ranks do not see, and a word that the operator does not know."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.errors import suggest
from packyard.source import ranks
from packyard.text.node import Mapping, Scalar

_POLICIES = ("AtStartup", "WaitForWorkersReady")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find variables that the launcher has and its ranks lack, and launchers that wait for nobody by a slip."""
    seen: set[int] = set()
    for root in filter(ranks.is_job, parsed.objects):
        yield from _policy(root)
        for container in ranks.launchers(root):
            for entry in ranks.missing(container, parsed.objects):
                if id(entry) not in seen:
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
