"""Running a probe for `packyard doctor --probe` until its pods have ended or the time is up; then it is deleted."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli import output
from packyard.cli.running import clusters, interrupts
from packyard.core.errors import PackyardError
from packyard.running import probe
from packyard.running.doctor.finding import Finding, error, unknown
from packyard.running.runs import run as runs
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered

_MORE = 60  # seconds after which the cluster itself ends pods that nobody waits for any more


def run_after(findings: Sequence[Finding], client: Kubectl, rendered: Rendered, seconds: float) -> list[Finding]:
    """Return what a probe finds, which is not begun where it would only wait for what is known to be wrong."""
    if any(each.severity == "error" for each in findings):
        return [unknown("probe", "pods", "were not tried: mend the errors first")]
    try:
        return run(client, rendered, seconds)
    except PackyardError as failure:  # what was found without it is told all the same
        problems = failure.problems
        return [error("probe", "pods", f"could not be tried: {each.message}", why=each.hint) for each in problems]


def run(client: Kubectl, rendered: Rendered, seconds: float) -> list[Finding]:
    """Return what the pods of a use case find where they are to run."""
    made = probe.make(rendered, runs.new_word(), seconds=int(seconds) + _MORE)
    if not made.checks:
        return [unknown("probe", "pods", "this use case has none that could be tried")]
    output.note(f"probe {made.name}: {output.counted(len(made.checks), 'container')} of the use case")
    record = made.record(client.namespace)
    with interrupts.made(client, made.jobs):
        now = clusters.wait(
            lambda: status.read_one(client, record),
            made.is_over,
            lambda now: f"probe {made.name} {now.explained}",
            seconds,
        )
        return made.findings(now)
