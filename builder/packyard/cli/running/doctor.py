"""Say what keeps a use case from running on a cluster, here and now. No run there is changed, and nothing in DIR.

packyard doctor DIR            as it is set
packyard doctor                outside of a package: which operators are there
packyard doctor DIR WORKERS=8  as if this were set
packyard doctor DIR --probe    also run its pods, small and with a program that
                               looks at their volumes, and delete them

What it needs follows from its objects: kinds and their operators, namespace, quotas, claims, Secrets with their keys,
accounts, a node for each pod, queues, and your own rights; last, the API server says whether it takes the pods. Each
finding says what is wrong, and what helps. What you may not read is unknown; what nodes lack is a warning.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from packyard.cli import declare, output, packages
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.bundle import delivery
from packyard.core.errors import Problem, UsageError, refuse
from packyard.core.kubernetes import kustomization
from packyard.running import doctor, probe
from packyard.running.doctor.finding import Finding, unknown
from packyard.running.runs import look, status
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.rendering import Rendered

ROWS = Rows("answer", "check, severity, about, message, why, fix")
#: Findings are shown in this order.
_SEVERITIES = ("error", "warning", "unknown")
_MORE = 60  # seconds after which the cluster itself ends pods that nobody waits for any more


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    packages.add_arguments(parser)
    clusters.add_arguments(parser)
    parser.switch("--probe", "also run small Jobs as its pods, and delete them")
    text = "how long these may take, pulling images included"
    parser.value("--timeout TIME", text, type=clusters.duration, default="3m")


def gate(client: Kubectl, rendered: Rendered) -> None:
    """Ask all that `run` asks, tell what may do harm, and refuse what keeps the run from starting."""
    findings = doctor.examine(client, rendered)
    problems = [(it.severity, Problem(f"{it}; {it.why}" if it.why else str(it), hint=it.fix)) for it in findings]
    output.warning(*(str(problem) for severity, problem in problems if severity == "warning"))
    output.detail(*(f"unknown: {finding}" for finding in findings if finding.severity == "unknown"))
    refuse(problem for severity, problem in problems if severity == "error")


def run(arguments: declare.Arguments) -> int:
    """Examine, print the findings, and fail where one is an error."""
    is_of_use_case = arguments.words or kustomization.on_disk(Path()) or delivery.package_of(Path())
    if not arguments.probe:
        declare.alone(arguments, "doctor", "without --probe", "timeout")
    elif not is_of_use_case:
        raise UsageError("packyard doctor: --probe needs DIR, the folder of a use case")
    if is_of_use_case:
        findings, then = _examine(arguments)
    else:  # which operators are there, of those that packages of the catalogue need
        findings = doctor.operated(clusters.find(arguments))
        then = "packyard doctor DIR asks for all that one needs"
    if ROWS.show(findings, arguments.output):
        _show(findings)
    output.note(then)
    return int(_has_errors(findings))


def _examine(arguments: declare.Arguments) -> tuple[list[Finding], str]:
    """Return what is found of a use case, and what to do then."""
    client, rendered, words = clusters.find_for(arguments, "doctor")
    findings = doctor.examine(client, rendered)
    if not _has_errors(findings):
        findings += doctor.refused(client, rendered)
    if arguments.probe and not _has_errors(findings):  # else it would only wait for what is known to be wrong
        findings += run_probe(client, rendered, arguments.timeout)
    if _has_errors(findings):
        return findings, f"once this is mended: {client.packyard('doctor', *words)}"
    return findings, f"next: {client.packyard('deploy', *words)}"


def _has_errors(findings: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def run_probe(client: Kubectl, rendered: Rendered, seconds: float) -> list[Finding]:
    """Return what the pods of a use case find where they are to run."""
    launch = probe.make(rendered, runs.new_word(), seconds=int(seconds) + _MORE)
    if not launch.checks:
        return [unknown("probe", "pods", "this use case has none that could be tried")]
    output.note(f"probe {launch.name}: {output.counted(len(launch.checks), 'container')} of the use case")
    record = launch.record(client.namespace)
    try:
        client.run("create", "--filename=-", data=listed(launch.jobs))
        ask = partial(status.read_one, client, record)
        now = clusters.wait(ask, launch.is_over, lambda now: f"probe {launch.name} {now.explained}", seconds)
        return launch.findings(now)
    finally:  # they end by themselves where whoever interrupts this twice leaves them
        look.delete(client, record.objects)


def _show(findings: Sequence[Finding]) -> None:
    """Print findings, the gravest first, and how many of each there are."""
    counts = []
    for severity in _SEVERITIES:
        if chosen := [finding for finding in findings if finding.severity == severity]:
            counts.append(f"{len(chosen)} unknown" if severity == "unknown" else output.counted(len(chosen), severity))
        for finding in chosen:
            output.line(f"{severity}: {finding}")
            if finding.why:
                output.line(f"  {finding.why}")
            if finding.fix:
                output.line(f"  $ {finding.fix}")
    passed = [finding for finding in findings if finding.severity == "passed"]
    output.detail(*(f"passed: {finding}" for finding in passed))
    output.line(", ".join([f"{output.counted(len(passed), 'check')} passed", *counts]))
