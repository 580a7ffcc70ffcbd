"""Running a probe for `packyard doctor --probe` until its pods have ended or the time is up; then it is deleted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from packyard.cli import declare, output
from packyard.cli.running import clusters, interrupts
from packyard.cli.running.rollout import now
from packyard.core.errors import PackyardError
from packyard.running.doctor.finding import Finding, error, unknown
from packyard.running.probe import answers, jobs
from packyard.running.probe.answers import Seen
from packyard.running.runs import beside
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered

_MORE = 60  # seconds after which the cluster itself ends pods that nobody waits for any more


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    declare.switch(parser, "--probe", "also run small Jobs as its pods, and delete them")
    text = "how long these may take, the pulling of images included"
    clusters.add_timeout(parser, text, "3m")


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
    probe = jobs.make(rendered, runs.new_word(), seconds=int(seconds) + _MORE)
    if not probe.checks:
        return answers.conclude(client, probe, Seen([], {}), now())
    output.note(f"probe {probe.name}: {output.counted(len(probe.checks), 'container')} of the use case")

    def words(seen: Seen) -> str:
        reasons = ", ".join(sorted({reason or "Pending" for reason in seen.waiting.values()}))
        return f"probe {probe.name} waits: {reasons}" if reasons else ""

    with interrupts.tidied(lambda: jobs.delete(client, probe)):
        beside.create(client, probe.objects)
        seen = clusters.wait(lambda: answers.look(client, probe), lambda seen: seen.is_over, words, seconds)
        return answers.conclude(client, probe, seen, now())
