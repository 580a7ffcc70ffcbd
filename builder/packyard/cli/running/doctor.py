"""Say what keeps a use case from running on a cluster, here and now. No run there is changed, and nothing in DIR.

packyard doctor DIR                  as it is set
packyard doctor DIR WORKERS=8        as if this were set
packyard doctor DIR --probe          also run its pods, small and with another program, and delete them

What it needs follows from its objects: kinds and their operators, namespace, quotas, claims, Secrets with their keys,
accounts, nodes with room for all pods at once, and your own rights. Each finding says what is wrong, what comes of it,
and where there is one, the command that helps. What you may not read counts as unknown, not as an error.

A probe's pods have the image, user, volumes, variables, node and account of the run's. They look for its programs and
files, read its data, write a file where its results go and remove it, and look up the names that it refers to.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from packyard.cli import directory as directories
from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, probe
from packyard.cli.using import site
from packyard.core.errors import Problem, refuse
from packyard.running import doctor
from packyard.running.doctor.finding import Finding
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared

ROWS = Rows("answer", "check, severity, about, message, why, fix")
#: Findings are shown in this order.
_SEVERITIES = ("error", "warning", "unknown")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME=VALUE…]")
    clusters.add_arguments(parser)
    clusters.add_autoscaled(parser)
    probe.add_arguments(parser)


def gate(found: Kubectl, prepared: Prepared, *, autoscaled: bool) -> None:
    """Ask all that `run` asks, tell what may do harm, and refuse what keeps the run from starting."""
    findings = _examine(found, prepared, autoscaled=autoscaled)
    for each in findings:
        if each.severity == "warning":
            output.warning(f"{_explained(each)}" + (f" ({each.fix})" if each.fix else ""))
        elif each.severity == "unknown":
            output.detail(f"unknown: {each}")
    refuse(Problem(_explained(each), hint=each.fix) for each in findings if each.severity == "error")


def _examine(found: Kubectl, prepared: Prepared, *, autoscaled: bool) -> list[Finding]:
    return doctor.examine(found, prepared, autoscaled=autoscaled or site.is_autoscaled())


def _explained(each: Finding) -> str:
    return f"{each}; {each.why}" if each.why else str(each)


def run(arguments: argparse.Namespace) -> int:
    """Examine, print the findings, and fail where one is an error."""
    found, prepared, words = clusters.find_for(arguments, "doctor")
    findings = _examine(found, prepared, autoscaled=arguments.autoscaled)
    if arguments.probe:
        findings += probe.run_after(findings, found, prepared, arguments.probe_timeout)
    if ROWS.show(findings, arguments.output):
        _show(findings)
    has_errors = any(each.severity == "error" for each in findings)
    command = found.packyard("doctor" if has_errors else "deploy", *words)
    output.note(f"once this is mended: {command}" if has_errors else f"next: {command}")
    return int(has_errors)


def _show(findings: Sequence[Finding]) -> None:
    """Print findings, the gravest first, and how many of each there are."""
    counts = []
    for severity in _SEVERITIES:
        chosen = [each for each in findings if each.severity == severity]
        if chosen:
            counts.append(f"{len(chosen)} unknown" if severity == "unknown" else output.counted(len(chosen), severity))
        for each in chosen:
            output.line(f"{severity}: {each}")
            if each.why:
                output.line(f"  {each.why}")
            if each.fix:
                output.line(f"  $ {each.fix}")
    passed = [each for each in findings if each.severity == "passed"]
    for each in passed:
        output.detail(f"passed: {each}")
    output.line(", ".join([f"{output.counted(len(passed), 'check')} passed", *counts]))
